import CloudKitModel
import Cryptography
import DatabaseAPI
import Foundation
import HTTPService
import StoreModel
import Synchronization
import WebServices

/// Finds out who makes a request of the admin API: a program shows an admin key, a browser the cookie
/// of a session that began with one. A program that connects to the socket in the data directory needs neither.
final class AdminAuthenticator: Sendable {
  /// The header field in which a page shows that it is the console: other sites cannot send it.
  static let proofHeader = "X-Petrel-CSRF"
  /// Seconds that a session lasts.
  static let sessionLifetime = 43_200.0

  private let store: any AdminKeyStore & ConsoleSessionStore
  private let clock: @Sendable () -> Timestamp
  private let addressHeader: Mutex<String?>
  private let attempts: SignInAttempts

  /// - Parameters:
  ///   - limits: where servers that share the store count attempts; nil when one has it alone.
  ///   - addressHeader: the header field in which a proxy tells the client's address.
  init(
    store: any AdminKeyStore & ConsoleSessionStore, sharing limits: (any SharedLimits)?,
    addressHeader: String?, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.store = store
    self.addressHeader = Mutex(addressHeader)
    attempts = SignInAttempts(.adminKey, sharing: limits)
    self.clock = clock
  }

  /// Counts wrong keys by the address in another header field from now on.
  func count(by addressHeader: String?) { self.addressHeader.withLock { $0 = addressHeader } }

  /// Who makes a request.
  ///
  /// - Throws: `AUTHENTICATION_REQUIRED` where nothing is shown or the session is over,
  ///   `AUTHENTICATION_FAILED` for a key that is none, `ACCESS_DENIED` where a browser would change
  ///   something without the proof that its page is the console, `THROTTLED` after many wrong keys.
  func identity(of request: HTTPRequest) async throws -> AdminIdentity {
    if request.isFromSocketFile { return .local }
    if let field = request.header("Authorization") {
      let parts = field.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased() == "bearer" else {
        throw ServiceError(
          .authenticationFailed, "Authorization: must be 'Bearer' and an admin key")
      }
      let text = parts[1].trimmingCharacters(in: .whitespaces)
      guard let key = try await AdminKeys.key(text, in: store) else {
        try await beginAttempt(request)
        throw Self.wrongKey
      }
      return AdminIdentity(key: key)
    }
    guard let cookie = ConsoleCookie.value(in: request.header("Cookie")) else {
      throw ServiceError(
        .authenticationRequired,
        "the admin API needs an admin key: send 'Authorization: Bearer KEY' with a key that "
          + "'petrel keys add-admin-key' made, or sign in at /console/sign-in")
    }
    guard
      let (session, key) = try await store.consoleSession(
        withHash: AdminKeys.hash(of: cookie), at: clock())
    else {
      throw ServiceError(.authenticationRequired, "the session is over; sign in again")
    }
    if !["GET", "HEAD"].contains(request.method) {
      let proof = request.header(Self.proofHeader) ?? ""
      guard ConstantTime.areEqual(Array(proof.utf8), Array(Self.proof(of: cookie).utf8)) else {
        throw ServiceError(
          .accessDenied,
          "\(Self.proofHeader): a browser's session changes something only with the header field "
            + "that /admin/v1/session tells")
      }
    }
    return AdminIdentity(key: key, session: session)
  }

  /// Begins a session for a browser that shows a key. A right one is let in however many wrong ones
  /// came from its address: a key has 256 bits, so nobody finds one by trying, and whoever tries must
  /// not keep its owner out.
  ///
  /// - Returns: the value of its cookie.
  /// - Throws: as ``identity(of:)`` does.
  func beginSession(with text: String, from request: HTTPRequest) async throws -> String {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard let key = try await AdminKeys.key(text, in: store) else {
      try await beginAttempt(request)
      throw Self.wrongKey
    }
    let cookie = Base64URL.encode(SecureRandom.bytes(count: 32))
    let now = clock()
    guard
      try await store.addConsoleSession(
        ConsoleSession(
          hash: AdminKeys.hash(of: cookie), keyHash: key.hash, created: now,
          expires: now.advanced(bySeconds: Self.sessionLifetime)))
    else { throw Self.wrongKey }
    return cookie
  }

  func endSession(_ session: ConsoleSession) async throws {
    try await store.endConsoleSession(withHash: session.hash)
  }

  /// What the console sends along with what changes something.
  static func proof(of cookie: String) -> String {
    Base64URL.encode(SHA256.hash("console proof \(cookie)".utf8))
  }

  private static var wrongKey: ServiceError {
    ServiceError(
      .authenticationFailed,
      "this is no admin key of this server, or it was revoked; 'petrel keys list' shows them")
  }

  private func network(of request: HTTPRequest) -> String {
    ClientAddress.network(of: request, header: addressHeader.withLock { $0 })
  }

  /// Counts a wrong key.
  private func beginAttempt(_ request: HTTPRequest) async throws {
    let verdict = try await attempts.begin(address: network(of: request), at: clock())
    guard case .wait(let seconds) = verdict else { return }
    throw ServiceError(
      .throttled,
      "there were too many wrong keys; try again in \(Int(seconds.rounded(.up))) seconds",
      retryAfter: seconds)
  }
}
