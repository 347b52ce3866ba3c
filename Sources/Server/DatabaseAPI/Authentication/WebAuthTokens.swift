import CloudKitModel
import Cryptography
import Storage
import StoreModel
import Synchronization
import WebServices

/// A cache of web auth tokens, which also replaces the tokens of sessions by newer ones.
///
/// A native client has one token, which never changes. A session, which is one sign-in of a user in
/// a web app, has a chain of tokens: see ``SessionRotation``. A lock protects the cache; no thread
/// holds it during a call of the store.
package final class WebAuthTokens: Sendable {
  /// A token in the cache.
  private struct Known {
    /// The token as the store had it.
    var token: WebAuthToken
    /// The time when the server last read the token from the store.
    var checked: Timestamp
    /// The state that decides when the token gets a successor. A new read of the store does not
    /// reset it.
    var rotation = SessionRotation()
  }

  /// Seconds for which a server uses a cached token: one that uses its store alone, and one that
  /// shares its store with servers that may end a session.
  static let (trust, sharedTrust) = (30.0, 1.0)
  /// The most tokens in the cache. At the limit the cache is emptied.
  private static let capacity = 50_000

  private let store: AccountService
  private let trust: Double
  private let clock: @Sendable () -> Timestamp
  /// The cached tokens by their hashes. With the hash as the key, the time of a lookup does not
  /// depend on how similar a guess is to a real token.
  private let known = Mutex<[[UInt8]: Known]>([:])
  /// The number of calls of ``forget(userRecordName:)``. If it changes while the store is read, the
  /// token may be out of date and is not cached.
  private let forgotten = Mutex(0)

  /// `isShared` says whether other servers may end a session in the store.
  package init(
    store: AccountService, isShared: Bool, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.store = store
    trust = isShared ? Self.sharedTrust : Self.trust
    self.clock = clock
  }

  /// Returns the token with this text, and as `next` the text that the client must use next; nil
  /// for a native client.
  ///
  /// - Throws: `AUTHENTICATION_FAILED` if the token is unknown, has expired, or belongs to another
  ///   container or environment than `path`.
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
      .authenticationFailed, "the web auth token is unknown to this server")
  }

  private func stored(_ hash: [UInt8], now: Timestamp) async throws -> WebAuthToken {
    // An entry is not used if its time is in the future: then the clock was set back.
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

  /// Removes a user's tokens from the cache, because they have changed in the store.
  package func forget(userRecordName: String) {
    forgotten.withLock { $0 += 1 }
    known.withLock { known in
      known = known.filter { $0.value.token.userRecordName != userRecordName }
    }
  }

  // MARK: Sessions

  /// Ends a session, so that none of its tokens is valid any more.
  func end(sessionWithID id: [UInt8], of userRecordName: String) async throws {
    try await store.endSession(withID: id, at: clock())
    forget(userRecordName: userRecordName)
  }

  /// Writes to the store what ``SessionRotation`` decides after a request with the token; often
  /// there is nothing to write. An overloaded store is no error: a later request tries again.
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

  /// Returns the text of the last known token in the chain of successors after a token; nil if the
  /// token has no known successor.
  private func newest(after hash: [UInt8]) -> String? {
    known.withLock { known in
      var newest: String?
      var hash = hash
      // Each successor is younger than the one before, so the loop ends.
      while let successor = known[hash]?.rotation.successor {
        newest = successor.text
        hash = Authenticator.hash(of: successor.text)
      }
      return newest
    }
  }
}
