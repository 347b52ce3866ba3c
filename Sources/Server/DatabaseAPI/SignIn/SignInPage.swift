import Foundation
import HTTPService

/// A page of the sign-in. It runs only its own script, and loads nothing from other servers.
struct SignInPage: Sendable {
  /// An issuer at which the user can sign in.
  struct Choice: Sendable, Hashable {
    /// The URL to which its button sends the form.
    var action: String
    /// The text of the button.
    var label: String
  }

  /// The outcome of a sign-in, as the app gets it.
  enum Outcome: Sendable {
    /// The web auth token.
    case token(String)
    /// The reason why there is no token.
    case failure(String)
  }

  /// The data of the form: the visible parts and the hidden fields.
  struct Form: Sendable {
    /// The URL to which the form is sent.
    var action: String
    /// The app's request, for the texts of the form.
    var request: SignInRequest
    /// The sealed request, as it is in the page's URL.
    var state: String
    /// The proof that the form was made for the browser that sends it.
    var proof: String
    /// Whether the form has fields for name and password.
    var acceptsPasswords: Bool
    /// The buttons of the issuers.
    var choices: [Choice]
    /// The message about the last attempt; nil for the first one.
    var problem: String?
    /// The name that the user entered in the last attempt.
    var name = ""
    /// Whether the check box to stay signed in is set.
    var staysSignedIn = false
  }

  /// The HTTP status of the answer.
  var status: Int
  var title: String
  /// The content of the main element.
  var content: HTML
  /// Further elements of the head.
  var head: HTML = ""
  /// Whether the page contains ``script``.
  var hasScript = false
  /// The origin to which the answer to the page's form may redirect; nil if the answer does not
  /// redirect.
  var formTarget: String?
  /// The attributes of the main element, with a space before each.
  private var attributes: HTML = ""

  /// Returns the page with the form.
  static func form(_ form: Form, status: Int = 200) -> SignInPage {
    var formTarget: String?
    if case .redirect(let url) = form.request.callback {
      formTarget = SignInRequest.origin(of: url)
    }
    return SignInPage(
      status: status, title: form.problem == nil ? "Sign in" : "Sign in: something is wrong",
      content: content(of: form), formTarget: formTarget)
  }

  /// Returns a page with a message only.
  static func notice(_ text: String, title: String, status: Int) -> SignInPage {
    SignInPage(
      status: status, title: title,
      content: "<h1>\(title)</h1><p role=\"alert\">\(text)</p>")
  }

  /// Returns a page that loads a URL by itself.
  ///
  /// Unlike a redirect, the page ends the chain of requests that began with a form. Browsers have
  /// rules of their own for the redirects in such a chain.
  static func passage(to url: String, name: String) -> SignInPage {
    SignInPage(
      status: 200, title: "Going on to \(name)",
      content: "<h1>One moment</h1><p><a href=\"\(url)\">Go on to \(name)</a></p>",
      head: "<meta http-equiv=\"refresh\" content=\"0;url=\(url)\">")
  }

  /// Returns the page that sends the outcome to the window that opened the page.
  ///
  /// - Parameter origins: the origins to which the message may go: the window gets it only if it
  ///   shows a page of one of them. If `origins` is empty, every origin gets it.
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
        <p id="alone" role="alert" hidden>The browser has separated this window from the \
        app that opened it. Close this window and sign in again from the app.</p>
        <noscript><p>Signing in needs JavaScript, as the app does. Turn it on and try again.</p>\
        </noscript>
        """,
      hasScript: true, attributes: "\(member) data-origins=\"\(targets)\"")
  }

  /// Returns the page as an answer with its security header fields.
  func response(headers: [(String, String)] = []) -> HTTPResponse {
    let policy = Self.contentSecurityPolicy(hasScript: hasScript, formTarget: formTarget)
    return HTTPResponse(
      status: status,
      headers: [
        ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy),
      ] + Self.protection + headers,
      body: .data(Data(document.text.utf8)))
  }

  /// The header fields of every answer of the sign-in.
  ///
  /// `Cross-Origin-Opener-Policy` is `unsafe-none`, because the page must send a message to the
  /// window that opened it.
  static let protection = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"), ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "unsafe-none"), ("X-Robots-Tag", "noindex"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
  ]

  /// The whole document.
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
