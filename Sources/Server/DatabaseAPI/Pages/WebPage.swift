import Foundation
import HTTPService
import WebServices

/// A page that the server shows to people. It runs at most its own script, loads nothing from other
/// servers, and cannot be shown in a frame.
struct WebPage: Sendable {
  var status: Int
  var title: String
  /// The content of the main element.
  var content: HTML
  /// Further elements of the head.
  var head: HTML = ""
  var hasScript = false
  /// Whether the page contains a picture, as a `data:` URL.
  var hasPicture = false
  /// The origin to which the answer to the page's form may redirect, if any.
  var formTarget: String?
  /// The attributes of the main element, with a space before each.
  var attributes: HTML = ""
  /// The header fields of ``protection(referrer:opener:)``.
  var protection: [(String, String)]

  func response(headers: [(String, String)] = []) -> HTTPResponse {
    HTTPResponse(
      status: status,
      headers: [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Security-Policy", contentSecurityPolicy),
      ] + protection + headers,
      body: .data(Data(document.text.utf8)))
  }

  static func notice(
    _ text: String, title: String, status: Int, protection: [(String, String)]
  ) -> WebPage {
    WebPage(
      status: status, title: title,
      content: "<h1>\(title)</h1><p role=\"\(status < 400 ? "status" : "alert")\">\(text)</p>",
      protection: protection)
  }

  /// Returns the answer about an error: a page with the reason, or with the identifier of the error
  /// in the log if the server failed.
  static func failure(_ error: ServiceError, protection: [(String, String)]) -> HTTPResponse {
    let retry = error.retryAfter.map { [("Retry-After", String(Int($0.rounded(.up))))] }
    return notice(
      error.code == .internalError
        ? "The server failed. Its log has the cause, under \(error.uuid)." : error.reason,
      title: "This did not work", status: error.code.httpStatus, protection: protection
    ).response(headers: retry ?? [])
  }

  /// Returns the security header fields of every page, apart from its policy.
  static func protection(referrer: String, opener: String) -> [(String, String)] {
    [
      ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
      ("X-Frame-Options", "DENY"), ("Referrer-Policy", referrer),
      ("Cross-Origin-Opener-Policy", opener), ("X-Robots-Tag", "noindex"),
      ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    ]
  }

  private var document: HTML {
    let style = HTML(stringLiteral: Self.style)
    let script: HTML = hasScript ? "<script>\(HTML(stringLiteral: Self.script))</script>" : ""
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(title)</title>
      \(head)<style>\(style)</style>
      </head>
      <body>
      <main\(attributes)>
      \(content)
      </main>
      \(script)</body>
      </html>

      """
  }
}
