import CloudKitModel
import Cryptography
import StoreModel
import Synchronization
import WebServices

/// Web auth tokens, as the store had them lately, and the successors of those of sessions.
package final class WebAuthTokens: Sendable {
  private struct Known {
    var token: WebAuthToken
    var checked: Timestamp
    var rotation = SessionRotation()
  }

  /// How long an answer of the store is relied on, in seconds, where no other server can end a session.
  static let trust = 30.0
  /// Tokens that are remembered.
  private static let capacity = 50_000

  private let store: any SessionStore
  private let trust: Double
  private let clock: @Sendable () -> Timestamp
  /// By the hashes of their texts: looking for one takes as long however near a text comes to it.
  private let known = Mutex<[[UInt8]: Known]>([:])
  /// How often ``forget(userRecordName:)`` was called: what was read from the store before may be out of
  /// date.
  private let forgotten = Mutex(0)

  /// - Parameter isShared: whether other servers may end a session in the store.
  package init(
    store: any SessionStore, isShared: Bool, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.store = store
    trust = isShared ? 0 : Self.trust
    self.clock = clock
  }

  /// The token with this text, and the text that the client is to use next, which is nil for a
  /// native client.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` when it is unknown, has expired, or was made for another
  ///   container or environment than that of `path`.
  func token(
    _ text: String, for path: ServicePath
  ) async throws -> (WebAuthToken, next: String?) {
    let now = clock()
    let hash = Authenticator.hash(of: text)
    let token = try await stored(hash, now: now)
    guard token.expires > now else {
      throw ServiceError(
        .authenticationFailed,
        "the web auth token expired at \(token.expires.iso8601); sign in again")
    }
    guard let session = token.session else { return (token, nil) }
    guard session.container == path.container, session.environment == path.environment else {
      throw ServiceError(
        .authenticationFailed,
        "the web auth token was made for another container or environment; sign in to "
          + "\(path.container) (\(path.environment.rawValue))")
    }
    try await rotate(token, session, now: now)
    return (token, newest(after: hash) ?? text)
  }

  private static var unknown: ServiceError {
    ServiceError(
      .authenticationFailed, "the web auth token is not known here")
  }

  private func stored(_ hash: [UInt8], now: Timestamp) async throws -> WebAuthToken {
    // What was checked in what is now the future is not relied on.
    if let entry = known.withLock({ $0[hash] }),
      (0..<trust).contains(now.seconds - entry.checked.seconds)
    {
      return entry.token
    }
    let forgotten = forgotten.withLock { $0 }
    guard let token = try await store.webAuthToken(withHash: hash) else {
      known.withLock { _ = $0.removeValue(forKey: hash) }
      throw Self.unknown
    }
    known.withLock { known in
      guard self.forgotten.withLock({ $0 }) == forgotten else { return }
      if known.count >= Self.capacity { known.removeAll() }
      known[hash, default: Known(token: token, checked: now)].token = token
      known[hash]?.checked = now
    }
    return token
  }

  /// Asks the store again for a user's tokens, for they changed there.
  ///
  /// - Complexity: O(tokens that are remembered).
  package func forget(userRecordName: String) {
    forgotten.withLock { $0 += 1 }
    known.withLock { known in
      known = known.filter { $0.value.token.userRecordName != userRecordName }
    }
  }

  // MARK: Sessions

  /// Has the store do what is due. When it has too much to do already, that waits for a later
  /// request.
  private func rotate(
    _ token: WebAuthToken, _ session: WebAuthToken.Session, now: Timestamp
  ) async throws {
    let action = known.withLock { $0[token.hash]?.rotation.handle(.request(token, now: now)) }
    guard case .write(let adopts, let makesSuccessor) = action else { return }
    let successor =
      makesSuccessor ? SessionRotation.Successor(text: Account.newToken(), created: now) : nil
    var stored: WebAuthToken?
    if let successor {
      stored = WebAuthToken(
        hash: Authenticator.hash(of: successor.text), userRecordName: token.userRecordName,
        created: now, expires: now.advanced(bySeconds: session.lifetime), session: session)
      stored?.session?.isUsed = false
    }
    do {
      let isThere = try await store.rotateWebAuthToken(
        withHash: token.hash, successor: stored,
        olderExpire: adopts ? now.advanced(bySeconds: SessionRotation.grace) : nil)
      guard isThere else {
        known.withLock { _ = $0.removeValue(forKey: token.hash) }
        throw Self.unknown
      }
      known.withLock { _ = $0[token.hash]?.rotation.handle(.done(successor: successor)) }
    } catch {
      known.withLock { _ = $0[token.hash]?.rotation.handle(.failed) }
      if (error as? StoreError)?.code != .overloaded { throw error }
    }
  }

  /// The last of a token's successors that are known here; nil when there is none.
  private func newest(after hash: [UInt8]) -> String? {
    known.withLock { known in
      var newest: String?
      var hash = hash
      // Each is younger than the one before, so there is no way in a circle.
      while let successor = known[hash]?.rotation.successor {
        newest = successor.text
        hash = Authenticator.hash(of: successor.text)
      }
      return newest
    }
  }
}
