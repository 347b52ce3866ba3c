import CloudKitModel
import Configuration
import Cryptography
import Foundation
import HTTPService
import JSONCoding
import Logging
import OpenIDConnect
import Storage
import StoreModel
import Synchronization
import WebServices

/// The sign-in of users of web apps and of the pages of shares: the server's own page with its form, and the exchange with
/// issuers. An issuer is an OpenID Connect service at which users sign in.
///
/// 1. A request that needs a user and has none gets `AUTHENTICATION_REQUIRED` with the URL of the
///    page: ``url(for:)``.
/// 2. The app opens the page. The form asks for a password, or has a button for each issuer.
/// 3. After the sign-in the page gives the app a web auth token, by a message to the window that
///    opened the page, or by a redirect: ``deliver(_:to:staysSignedIn:)``.
///
/// The server stores nothing between these steps. The data of the sign-in travels in sealed texts:
/// see ``TextSeal``.
package final class SignIn: Sendable {
  /// The path of the page. The paths that continue it after a slash belong to the sign-in too.
  static let path = "/sign-in"
  /// Seconds for which the URL of the page is valid: 12 hours. An app keeps the URL until its user
  /// presses the button for signing in.
  static let urlLifetime = 43_200.0
  /// Seconds for which a form is valid after it was shown.
  static let formLifetime = 3600.0

  /// The refusal of a request to the sign-in, which becomes a page. The reason is for the user.
  struct Refusal: Error {
    var status: Int
    var reason: String

    /// The refusal of a URL that has expired or is incomplete.
    static let staleURL = Refusal(
      status: 400,
      reason: "This sign-in page is too old, or its address is incomplete. Close it and sign in "
        + "again from the app.")
  }

  let accounts: AccountService
  /// The secrets that all servers of the store share. One of them is the key of the seals.
  let secrets: SecretService
  let passwords: PasswordHasher
  let attempts: SignInAttempts
  let clock: @Sendable () -> Timestamp
  let log: ServerLog
  let publicURL: @Sendable () -> String
  let settings: ServerConfiguration.SignIn
  /// The header field in which a trusted proxy writes the client's address; nil if there is no such
  /// proxy.
  let addressHeader: String?
  /// The issuers by the names in their URLs.
  let issuers: [String: Issuer]
  /// The key of the ``TextSeal``; nil until the first use.
  private let key = Mutex<[UInt8]?>(nil)

  package init(
    settings: ServerConfiguration.SignIn, addressHeader: String?,
    accounts: AccountService, secrets: SecretService,
    sharing limits: (any SharedLimits)?,
    passwords: PasswordHasher = PasswordHasher(), log: ServerLog,
    clock: @escaping @Sendable () -> Timestamp, publicURL: @escaping @Sendable () -> String
  ) {
    self.settings = settings
    self.addressHeader = addressHeader
    self.accounts = accounts
    self.secrets = secrets
    attempts = SignInAttempts(.password, sharing: limits)
    self.passwords = passwords
    self.log = log
    self.clock = clock
    self.publicURL = publicURL
    let fetcher = BoundedFetcher()
    issuers = settings.issuers.mapValues { Issuer($0, fetcher: fetcher, clock: clock) }
  }

  /// Returns the URL of the page for an app's request. It is valid for ``urlLifetime`` seconds.
  func url(for request: SignInRequest) async throws -> String {
    let state = try await seal().seal(
      request.members, for: "request", until: clock().advanced(bySeconds: Self.urlLifetime))
    return "\(publicURL())\(Self.path)?state=\(state)"
  }

  /// Returns the URL of the page for a request of the protocol whose caller is not signed in.
  ///
  /// - Parameter credentials: the credentials of the request. Its API token decides how the app
  ///   gets the web auth token.
  func url(
    for request: HTTPRequest, to path: ServicePath, with credentials: Credentials
  ) async throws -> String {
    try await url(
      for: SignInRequest(
        container: path.container, environment: path.environment,
        callback: SignInRequest.Callback(
          credentials.apiToken, origin: request.header("Origin"))))
  }

  /// Answers a request. A failure becomes a page. The server logs
  /// each failure that is no ``Refusal``, except after a cancellation.
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    do {
      return try await answer(request)
    } catch let refusal as Refusal {
      return SignInPage.notice(
        refusal.reason, title: "This did not work", status: refusal.status
      ).response()
    } catch {
      let error = ServiceError(any: error)
      if !Task.isCancelled {
        log.error(
          "sign-in failed",
          [
            "uuid": .string(error.uuid), "method": .string(request.method),
            "path": .string(request.path), "cause": .string("\(error)"),
          ])
      }
      return WebPage.failure(error, protection: SignInPage.protection)
    }
  }

  /// Throws ``Refusal`` with the status 404 for an unknown page.
  private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    switch (request.method, request.path) {
    case ("GET", Self.path), ("HEAD", Self.path):
      return try await showForm(request)
    case ("POST", Self.path):
      return try await checkPassword(request)
    case ("POST", Self.path + "/cancel"):
      return try await cancel(request)
    default:
      break
    }
    let parts = request.path.dropFirst(Self.path.count + 1).split(separator: "/")
    if parts.count == 2, let issuer = issuers[String(parts[1])] {
      let name = String(parts[1])
      switch (request.method, parts[0]) {
      case ("POST", "with"): return try await leave(request, for: issuer, named: name)
      case ("GET", "from"): return try await comeBack(request, from: issuer, named: name)
      case ("POST", "from"): return try passOn(request, from: name)
      default: break
      }
    }
    throw Refusal(status: 404, reason: "There is no such page.")
  }

  // MARK: The form

  /// Shows the form, and sets the cookie if the browser has none.
  private func showForm(_ request: HTTPRequest) async throws -> HTTPResponse {
    let visit = try await visit(request, state: request.query("state"))
    return SignInPage.form(form(for: visit)).response(headers: visit.cookieHeader)
  }

  /// `problem` is the message about the last attempt; nil for the first one.
  func form(for visit: SignInVisit, problem: String? = nil) -> SignInPage.Form {
    SignInPage.Form(
      action: publicURL() + Self.path, request: visit.request, state: visit.state,
      proof: visit.proof, acceptsPasswords: settings.acceptsPasswords, choices: choices,
      problem: problem)
  }

  /// Returns the visit and the fields of a sent form.
  ///
  /// The server accepts the form only with the cookie, and with the proof that this browser was
  /// shown the form. If the browser sends an `Origin` other than `null`, it must be the server's
  /// own.
  ///
  /// - Throws: ``Refusal`` with the status 403 if one of these is missing or wrong;
  ///   ``Refusal/staleURL`` as in ``visit(_:state:)``.
  func sentForm(_ request: HTTPRequest) async throws -> (SignInVisit, [String: String]) {
    let fields = Dictionary(
      request.formFields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    try checkOrigin(of: request)
    let visit = try await visit(request, state: fields["state"])
    guard visit.isReturning else {
      throw Refusal(
        status: 403,
        reason: "The browser sent no cookie. Allow cookies for this server, and sign in again from "
          + "the app.")
    }
    guard visit.accepts(proof: fields["proof"] ?? "") else {
      throw Refusal(
        status: 403,
        reason: "The form was not made for this browser, or is too old. Sign in again from the app."
      )
    }
    return (visit, fields)
  }

  /// Checks that the `Origin` of a form is `null` or the server's own, if the browser sends one.
  func checkOrigin(of request: HTTPRequest) throws(Refusal) {
    guard let origin = request.header("Origin"), origin != "null",
      origin.lowercased() != SignInRequest.origin(of: publicURL())
    else { return }
    throw Refusal(
      status: 403, reason: "The form was sent from \(origin), which is not this server.")
  }

  /// Returns the visit of a browser, from the sealed request and the cookie.
  ///
  /// - Parameter state: the sealed request from the URL or the form.
  /// - Throws: ``Refusal/staleURL`` if `state` is missing, has expired or was not sealed by a
  ///   server of this store.
  func visit(_ request: HTTPRequest, state: String?) async throws -> SignInVisit {
    let seal = try await seal()
    let now = clock()
    guard let state, let members = seal.open(state, for: "request", at: now),
      let signInRequest = SignInRequest(members)
    else { throw Refusal.staleURL }
    return SignInVisit(
      request: signInRequest, state: state, cookies: request.header("Cookie"),
      publicURL: publicURL(), seal: seal, now: now)
  }

  /// Returns the seal of the sign-in's texts. The first server of a store creates the key.
  func seal() async throws -> TextSeal {
    if let known = key.withLock({ $0 }) { return TextSeal(key: known) }
    let key = try await secrets.secret(named: "sign-in", proposing: SecureRandom.bytes(count: 32))
    self.key.withLock { $0 = key }
    return TextSeal(key: key)
  }

  // MARK: The end

  /// Answers with a page that informs the app that its user has cancelled the sign-in.
  ///
  /// - Throws: ``Refusal`` if the app gets its token by a redirect, which cannot report this.
  private func cancel(_ request: HTTPRequest) async throws -> HTTPResponse {
    let (visit, _) = try await sentForm(request)
    guard case .message(let origins) = visit.request.callback else {
      throw Refusal(
        status: 400, reason: "The app cannot be notified that you cancelled. Go back to the app.")
    }
    return SignInPage.delivery(of: .failure("the sign-in was cancelled"), to: origins).response()
  }

  /// Creates a web auth token for the user, and returns the answer that passes the token to the
  /// app.
  ///
  /// The answer is a page that sends a message, or a redirect with the status 303. The redirect to
  /// the page of a share has the token in a cookie.
  func deliver(
    _ user: User, to request: SignInRequest, staysSignedIn: Bool
  ) async throws -> HTTPResponse {
    let token = try await Account.makeSessionToken(
      for: user, container: request.container, environment: request.environment,
      staysSignedIn: staysSignedIn, in: accounts, at: clock())
    switch request.callback {
    case .message(let origins):
      return SignInPage.delivery(of: .token(token), to: origins).response()
    case .redirect(let url):
      return HTTPResponse(
        status: 303,
        headers: SignInPage.protection + [
          ("Location", SignInRequest.callbackURL(url, token: token))
        ])
    case .sharePage(let shortGUID):
      let publicURL = publicURL()
      return HTTPResponse(
        status: 303,
        headers: SignInPage.protection + [
          ("Location", ShareURL(publicURL: publicURL).text(shortGUID: shortGUID, title: nil)),
          ShareSession.cookie(
            token, for: Account.lifetime(staysSignedIn: staysSignedIn), at: publicURL),
        ])
    }
  }
}
