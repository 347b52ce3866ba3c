import CloudKitModel
import Configuration
import Cryptography
import Foundation
import HTTPService
import JSONCoding
import Logging
import OpenIDConnect
import StoreModel
import Synchronization
import WebServices

/// The server's own page where users sign in, and what stands behind it.
///
/// An app that is told `AUTHENTICATION_REQUIRED` opens the page at ``url(for:callback:)``; when the
/// user has signed in, the page gives the app a web auth token.
package final class SignIn: Sendable {
  static let path = "/sign-in"
  /// Seconds that the URL of an answer is good for. Apps keep it behind their own button until
  /// someone presses that.
  static let urlLifetime = 43_200.0
  /// Seconds that a form is good for once it is shown.
  static let formLifetime = 3600.0

  /// What a request must be to be answered; the reason is for the user.
  struct Refusal: Error {
    var status: Int
    var reason: String

    static let staleURL = Refusal(
      status: 400,
      reason: "This sign-in page is too old, or its address is not whole. Close it and sign in "
        + "again from the app.")
  }

  let accounts: any AccountReading & SessionStore & SignInStore
  let secrets: any SecretStore
  let passwords: PasswordHasher
  let attempts: SignInAttempts
  let clock: @Sendable () -> Timestamp
  let log: ServerLog
  let publicURL: @Sendable () -> String
  let settings: ServerConfiguration.SignIn
  /// The header field in which a proxy tells the client's address.
  let addressHeader: String?
  /// By the names that their URLs have.
  let issuers: [String: Issuer]
  private let key = Mutex<[UInt8]?>(nil)

  package init(
    settings: ServerConfiguration.SignIn, addressHeader: String?,
    accounts: any AccountReading & SessionStore & SignInStore, secrets: any SecretStore,
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

  package static func isPath(_ path: String) -> Bool {
    path == Self.path || path.hasPrefix(Self.path + "/")
  }

  /// The URL of the page for the app that sent a request.
  func url(for request: SignInRequest) async throws -> String {
    let state = try await seal().seal(
      request.members, for: "request", until: clock().advanced(bySeconds: Self.urlLifetime))
    return "\(publicURL())\(Self.path)?state=\(state)"
  }

  /// The URL of the page for who sent a request of the protocol without being signed in.
  func url(
    for request: HTTPRequest, to path: ServicePath, with credentials: Credentials
  ) async throws -> String {
    try await url(
      for: SignInRequest(
        container: path.container, environment: path.environment,
        callback: SignInRequest.Callback(
          credentials.apiToken, origin: request.header("Origin"))))
  }

  /// The answer to a request whose path ``isPath(_:)``. What goes wrong is told on a page.
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
      let retry = error.retryAfter.map { [("Retry-After", String(Int($0.rounded(.up))))] }
      return SignInPage.notice(
        error.code == .internalError
          ? "The server failed. Its log says why, at \(error.uuid)." : error.reason,
        title: "This did not work", status: error.code.httpStatus
      ).response(headers: retry ?? [])
    }
  }

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

  private func showForm(_ request: HTTPRequest) async throws -> HTTPResponse {
    let visit = try await visit(request, state: request.query("state"))
    return SignInPage.form(form(for: visit)).response(headers: visit.cookieHeader)
  }

  func form(for visit: SignInVisit, problem: String? = nil) -> SignInPage.Form {
    SignInPage.Form(
      action: publicURL() + Self.path, request: visit.request, state: visit.state,
      proof: visit.proof, acceptsPasswords: settings.acceptsPasswords, choices: choices,
      problem: problem)
  }

  /// What a sent form says, once it is clear that the browser that sends it was shown it.
  func sentForm(_ request: HTTPRequest) async throws -> (SignInVisit, [String: String]) {
    let fields = Dictionary(
      request.formFields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    if let origin = request.header("Origin"), origin != "null",
      origin.lowercased() != SignInRequest.origin(of: publicURL())
    {
      throw Refusal(
        status: 403, reason: "The form was sent from \(origin), which is not this server.")
    }
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

  func seal() async throws -> TextSeal {
    if let known = key.withLock({ $0 }) { return TextSeal(key: known) }
    let key = try await secrets.secret(named: "sign-in", proposing: SecureRandom.bytes(count: 32))
    self.key.withLock { $0 = key }
    return TextSeal(key: key)
  }

  // MARK: The end

  /// Tells the app that its user does not sign in.
  private func cancel(_ request: HTTPRequest) async throws -> HTTPResponse {
    let (visit, _) = try await sentForm(request)
    guard case .message(let origins) = visit.request.callback else {
      throw Refusal(status: 400, reason: "Go back to the app; it is not told that you cancelled.")
    }
    return SignInPage.delivery(of: .failure("the sign-in was cancelled"), to: origins).response()
  }

  /// Gives the app a web auth token for the user.
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
    }
  }
}
