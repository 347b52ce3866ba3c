import Foundation
import HTTPService

/// A page of the sign-in: no script but its own, nothing loaded from elsewhere.
struct SignInPage: Sendable {
  /// A way to sign in at an issuer.
  struct Choice: Sendable, Hashable {
    /// Where its button sends the form.
    var action: String
    var label: String
  }

  /// What an app is told in the end.
  enum Outcome: Sendable {
    case token(String)
    /// Why there is none.
    case failure(String)
  }

  /// What the form shows and sends along.
  struct Form: Sendable {
    var action: String
    var request: SignInRequest
    /// The request as it came in the page's URL.
    var state: String
    /// Shows that the form was made for the browser that sends it.
    var proof: String
    var acceptsPasswords: Bool
    var choices: [Choice]
    /// What was wrong with the last attempt.
    var problem: String?
    /// What was typed in the last attempt.
    var name = ""
    var staysSignedIn = false
  }

  var status: Int
  var title: String
  var content: HTML
  /// Further elements of the head.
  var head: HTML = ""
  var hasScript = false
  /// Where the answer to the page's form may redirect to.
  var formTarget: String?
  /// Attributes of the main element, with a space before each.
  private var attributes: HTML = ""

  /// The page with the form.
  static func form(_ form: Form, status: Int = 200) -> SignInPage {
    var formTarget: String?
    if case .redirect(let url) = form.request.callback {
      formTarget = SignInRequest.origin(of: url)
    }
    return SignInPage(
      status: status, title: form.problem == nil ? "Sign in" : "Sign in: something is wrong",
      content: content(of: form), formTarget: formTarget)
  }

  /// A page that only says something.
  static func notice(_ text: String, title: String, status: Int) -> SignInPage {
    SignInPage(
      status: status, title: title,
      content: "<h1>\(title)</h1><p role=\"alert\">\(text)</p>")
  }

  /// A page that leads on to a URL by itself. Unlike a redirect it ends the chain of requests that
  /// a form began, for which browsers have rules of their own.
  static func passage(to url: String, name: String) -> SignInPage {
    SignInPage(
      status: 200, title: "Going on to \(name)",
      content: "<h1>One moment</h1><p><a href=\"\(url)\">Go on to \(name)</a></p>",
      head: "<meta http-equiv=\"refresh\" content=\"0;url=\(url)\">")
  }

  /// The page that gives the outcome to the window that opened it.
  static func delivery(of outcome: Outcome, to origins: [String]) -> SignInPage {
    let targets = origins.isEmpty ? "*" : origins.joined(separator: " ")
    let (title, member): (String, HTML) =
      switch outcome {
      case .token(let token): ("Signed in", " data-token=\"\(token)\"")
      case .failure(let message): ("Not signed in", " data-failure=\"\(message)\"")
      }
    return SignInPage(
      status: 200, title: title,
      content: """
        <h1>\(title)</h1>
        <p id="done" role="status" hidden>You can close this window.</p>
        <p id="alone" role="alert" hidden>The browser has cut the tie between this window and the \
        app that opened it. Close this window and sign in again from the app.</p>
        <noscript><p>Signing in needs JavaScript, as the app does. Turn it on and try again.</p>\
        </noscript>
        """,
      hasScript: true, attributes: "\(member) data-origins=\"\(targets)\"")
  }

  /// The page as an answer.
  func response(headers: [(String, String)] = []) -> HTTPResponse {
    let policy = Self.contentSecurityPolicy(hasScript: hasScript, formTarget: formTarget)
    return HTTPResponse(
      status: status,
      headers: [
        ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy),
      ] + Self.protection + headers,
      body: .data(Data(document.text.utf8)))
  }

  /// Headers of every answer of the sign-in. The page needs its opener, so that one tie to other
  /// pages stays.
  static let protection = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"), ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "unsafe-none"), ("X-Robots-Tag", "noindex"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
  ]

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
