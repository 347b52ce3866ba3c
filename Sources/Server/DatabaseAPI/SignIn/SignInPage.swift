/// The pages of the sign-in.
enum SignInPage {
  /// An issuer at which the user can sign in.
  struct Choice: Sendable, Hashable {
    /// The URL to which its button sends the form.
    var action: String
    var label: String
  }

  /// The outcome of a sign-in, as the app gets it.
  enum Outcome: Sendable {
    case token(String)
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

  static func form(_ form: Form, status: Int = 200) -> WebPage {
    var formTarget: String?
    if case .redirect(let url) = form.request.callback {
      formTarget = SignInRequest.origin(of: url)
    }
    return WebPage(
      status: status, title: form.problem == nil ? "Sign in" : "Sign in: something is wrong",
      content: content(of: form), formTarget: formTarget,
      protection: protection)
  }

  static func notice(_ text: String, title: String, status: Int) -> WebPage {
    .notice(text, title: title, status: status, protection: protection)
  }

  /// Returns a page that loads a URL by itself.
  ///
  /// Unlike a redirect, the page ends the chain of requests that began with a form. Browsers have
  /// rules of their own for the redirects in such a chain.
  static func passage(to url: String, name: String) -> WebPage {
    WebPage(
      status: 200, title: "Going on to \(name)",
      content: "<h1>One moment</h1><p><a href=\"\(url)\">Go on to \(name)</a></p>",
      head: "<meta http-equiv=\"refresh\" content=\"0;url=\(url)\">", protection: protection)
  }

  /// Returns the page that sends the outcome to the window that opened the page.
  ///
  /// - Parameter origins: the origins to which the message may go: the window gets it only if it
  ///   shows a page of one of them. If `origins` is empty, every origin gets it.
  static func delivery(of outcome: Outcome, to origins: [String]) -> WebPage {
    let targets = origins.isEmpty ? "*" : origins.joined(separator: " ")
    let (title, member): (String, HTML) =
      switch outcome {
      case .token(let token): ("Signed in", " data-token=\"\(token)\"")
      case .failure(let message): ("Not signed in", " data-failure=\"\(message)\"")
      }
    return WebPage(
      status: 200, title: title,
      content: """
        <h1>\(title)</h1>
        <p id="done" role="status" hidden>You can close this window.</p>
        <p id="alone" role="alert" hidden>The browser has separated this window from the \
        app that opened it. Close this window and sign in again from the app.</p>
        <noscript><p>Signing in needs JavaScript, as the app does. Turn it on and try again.</p>\
        </noscript>
        """,
      hasScript: true, attributes: "\(member) data-origins=\"\(targets)\"",
      protection: protection)
  }

  /// The header fields of every answer of the sign-in.
  ///
  /// `Cross-Origin-Opener-Policy` is `unsafe-none`, because the page must send a message to the
  /// window that opened it.
  static let protection = WebPage.protection(referrer: "same-origin", opener: "unsafe-none")
}
