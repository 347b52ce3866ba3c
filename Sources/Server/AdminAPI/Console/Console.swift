import DatabaseAPI
import Foundation
import HTTPService
import WebServices

/// The console: its static files, and the page on which a browser signs in with an admin key.
package struct Console: Sendable {
  /// The path of the console. Its files have paths below `/console/`.
  static let path = "/console"
  private static let signInPath = "/console/sign-in"
  let authenticator: AdminAuthenticator
  /// See ``AdminSessionEndpoints/publicURL``.
  let publicURL: @Sendable () -> String
  private let files = ConsoleFiles()

  init(authenticator: AdminAuthenticator, publicURL: @escaping @Sendable () -> String) {
    self.authenticator = authenticator
    self.publicURL = publicURL
  }

  /// Returns the answer to a request for a path of the console.
  ///
  /// Anyone may read the files except `index.html`, because they contain no data of the server.
  ///
  /// - Throws: `NOT_FOUND` if there is no such file, and `WrongMethod` for a method that the path
  ///   does not have.
  func answer(to request: HTTPRequest) async throws -> HTTPResponse {
    if request.path == Self.signInPath {
      try WrongMethod.check(
        request.method, of: "the sign-in page", allowed: ["GET", "HEAD", "POST"])
      if request.method == "POST" { return try await signIn(request) }
      let isOver = request.query("over") != nil
      return page(problem: isOver ? "The session is over. Sign in again." : nil, status: 200)
    }
    try WrongMethod.check(request.method, of: "the console", allowed: ["GET", "HEAD"])
    if request.path == Self.path { return redirect(to: Self.path + "/") }
    let name = String(request.path.dropFirst(Self.path.count + 1))
    if name.isEmpty || name == "index.html" { return try await index(request) }
    guard var response = files.response(named: name, to: request) else {
      throw ServiceError(.notFound, "the console has no '\(name.prefix(80))'")
    }
    response.headers += Self.protection
    return response
  }

  /// Returns `index.html` to a caller with a valid session or admin key. Other callers get a
  /// redirection to the sign-in page.
  private func index(_ request: HTTPRequest) async throws -> HTTPResponse {
    do {
      _ = try await authenticator.identity(of: request)
    } catch let error as ServiceError
      where [.authenticationRequired, .authenticationFailed].contains(error.code)
    {
      return redirect(to: Self.signInPath)
    }
    guard var response = files.response(named: "index.html", to: request) else {
      throw ServiceError(.internalError, "this program was built without the console")
    }
    response.headers += Self.protection
    return response
  }

  /// Begins a session with the admin key in the form. The answer sets the session's cookie and
  /// redirects to the console.
  ///
  /// If the browser reports in `Sec-Fetch-Site` that another site sent the form, the answer is the
  /// sign-in page with status 403. After a wrong key, it has status 403 too. After too many wrong
  /// keys, it has status 429 and the field `Retry-After`.
  private func signIn(_ request: HTTPRequest) async throws -> HTTPResponse {
    if let site = request.header("Sec-Fetch-Site"), !["same-origin", "none"].contains(site) {
      return page(problem: "The form was sent from another site.", status: 403)
    }
    let key = request.formFields.first { $0.name == "key" }?.value ?? ""
    do {
      let cookie = try await authenticator.beginSession(with: key, from: request)
      var response = redirect(to: Self.path + "/")
      response.headers.append(
        ConsoleCookie.header(
          setting: cookie, forSeconds: AdminAuthenticator.sessionLifetime,
          isSecure: publicURL().hasPrefix("https:")))
      return response
    } catch let error as ServiceError
      where [.authenticationFailed, .throttled].contains(error.code)
    {
      var response = page(
        problem: error.code == .throttled
          ? "There were too many wrong keys. Try again in "
            + "\(Int((error.retryAfter ?? 1).rounded(.up))) seconds."
          : "The admin key is unknown to this server or revoked.",
        status: error.code == .throttled ? 429 : 403)
      if let wait = error.retryAfter {
        response.headers.append(("Retry-After", String(Int(wait.rounded(.up)))))
      }
      return response
    }
  }

  private func redirect(to path: String) -> HTTPResponse {
    HTTPResponse(
      status: 303, headers: [("Location", path), ("Cache-Control", "no-store")] + Self.protection)
  }

  private func page(problem: String?, status: Int) -> HTTPResponse {
    let notice: HTML =
      problem.map {
        "<p class=\"notice error\" id=\"problem\" role=\"alert\">\($0)</p>"
      } ?? ""
    let mark: HTML =
      problem == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"problem\""
    let document: HTML = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>Sign in – Petrel console</title>
      <link rel="icon" href="/console/petrel.svg" type="image/svg+xml">
      <link rel="stylesheet" href="/console/console.css">
      <script type="module" src="/console/theme.js"></script>
      <script type="module" src="/console/sign-in.js"></script>
      </head>
      <body>
      <main class="signin">
      <form class="card" method="post" action="/console/sign-in">
      <div class="brand"><img src="/console/petrel.svg" alt="" width="28" height="28"> Petrel</div>
      <h1>Sign in to the console</h1>
      \(notice)
      <label class="field"><span>Admin key</span>
      <input type="password" name="key" autocomplete="current-password" required autofocus\(mark)></label>
      <button class="first">Sign in</button>
      <p class="quiet small">Make a key on the server with
      <code>petrel keys add-admin-key</code>.</p>
      </form>
      </main>
      </body>
      </html>

      """
    return HTTPResponse(
      status: status,
      headers: [
        ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"),
      ] + Self.protection, body: .data(Data(document.text.utf8)))
  }

  /// The header fields of all pages and files. The content security policy allows only content of
  /// this server, and no inline scripts or styles.
  private static let protection = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("X-Robots-Tag", "noindex"),
  ]
}
