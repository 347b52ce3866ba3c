import CloudKitModel
import Cryptography
import DatabaseAPI
import Foundation
import HTTPService
import Storage
import StoreModel
import Synchronization
import WebServices

/// The authentication of requests to the admin API.
///
/// There are three kinds of callers:
///
/// - A program sends an admin key with each request (`Authorization: Bearer KEY`).
/// - A browser sends the cookie of a session that began with an admin key.
/// - A program that connects to the socket file in the data directory needs neither a key nor a
///   cookie.
final class AdminAuthenticator: Sendable {
  /// The header field with the proof that the console's own page sent a request. A page of another
  /// site cannot send this field.
  static let proofHeader = "X-Petrel-CSRF"
  /// The lifetime of a session in seconds: 12 hours.
  static let sessionLifetime = 43_200.0

  private let store: AdminAccessService
  private let clock: @Sendable () -> Timestamp
  /// The header field in which a proxy writes the client's address. ``count(by:)`` changes it.
  private let addressHeader: Mutex<String?>
  private let attempts: SignInAttempts

  /// `limits` is nil if one server has the store alone, `addressHeader` without a proxy.
  init(
    store: AdminAccessService, sharing limits: (any SharedLimits)?,
    addressHeader: String?, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.store = store
    self.addressHeader = Mutex(addressHeader)
    attempts = SignInAttempts(.adminKey, sharing: limits)
    self.clock = clock
  }

  /// Sets the header field from which the client's address of later requests is read. Wrong keys
  /// are counted by this address; earlier counts remain. Nil means that there is no proxy.
  func count(by addressHeader: String?) { self.addressHeader.withLock { $0 = addressHeader } }

  /// Returns the identity of the caller.
  ///
  /// - Throws: `AUTHENTICATION_REQUIRED` if the request has neither key nor cookie, or if the
  ///   session is over. `AUTHENTICATION_FAILED` for a wrong or revoked key. `ACCESS_DENIED` if a
  ///   browser's session sends another method than `GET` or `HEAD` without the right
  ///   ``proofHeader``. `THROTTLED` for a wrong key after many wrong keys from the same network.
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
          "\(Self.proofHeader): is missing or wrong; to change something in a browser's session, "
            + "send the 'proof' from /admin/v1/session in this header field")
      }
    }
    return AdminIdentity(key: key, session: session)
  }

  /// Begins a session for a browser that sends an admin key.
  ///
  /// The limit for wrong keys does not apply to a correct key. A key has 256 bits, so guessing
  /// cannot find one, and an attacker who guesses must not lock out the owner at the same address.
  ///
  /// - Returns: the value of the session's cookie, 32 random bytes in Base64URL. The store keeps
  ///   only its hash.
  /// - Throws: `AUTHENTICATION_FAILED` for a wrong or revoked key. `THROTTLED` for a wrong key
  ///   after many wrong keys from the same network.
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

  /// Returns the text that the console sends in ``proofHeader``: a hash of the session's cookie in
  /// Base64URL.
  static func proof(of cookie: String) -> String {
    Base64URL.encode(SHA256.hash("console proof \(cookie)".utf8))
  }

  private static var wrongKey: ServiceError {
    ServiceError(
      .authenticationFailed,
      "the admin key is unknown to this server or revoked; 'petrel keys list' shows the keys")
  }

  /// Returns the network whose wrong keys count together: an IPv4 address, or the first 64 bits of
  /// an IPv6 address.
  private func network(of request: HTTPRequest) -> String {
    ClientAddress.network(of: request, header: addressHeader.withLock { $0 })
  }

  /// Counts a wrong key. Throws `THROTTLED` if the network has sent too many.
  private func beginAttempt(_ request: HTTPRequest) async throws {
    let verdict = try await attempts.begin(address: network(of: request), at: clock())
    guard case .wait(let seconds) = verdict else { return }
    throw ServiceError(
      .throttled,
      "there were too many wrong keys; try again in \(Int(seconds.rounded(.up))) seconds",
      retryAfter: seconds)
  }
}
