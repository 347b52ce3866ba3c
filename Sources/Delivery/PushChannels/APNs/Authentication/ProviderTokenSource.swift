import CloudKitModel
import Cryptography
import Storage
import StoreModel
import Synchronization

/// The source of the provider tokens of one key. A provider token is a signed text with which a
/// sender proves its identity to APNs. Clients that use the same key should share one source,
/// because APNs limits how often new tokens of a key may appear.
///
/// ``ProviderTokenIssuer`` decides when to make a token:
///
/// - A token is renewed at an age of 50 minutes.
/// - A token is renewed earlier only if APNs reports the token as expired at an age of 20 minutes
///   or more.
/// - No token is made for 20 minutes after APNs answered `TooManyProviderTokenUpdates`.
///
/// With a store, the source keeps its token there, and continues with the token of an earlier process: a
/// restart or a reload of the configuration makes no new token. Servers on one store share their tokens in
/// this way.
///
/// A lock protects the issuer, so any thread may use the source. (Apple, *Establishing a
/// token-based connection to APNs*.)
public final class ProviderTokenSource: Sendable {
  /// The place of a token in a store.
  struct Place: Sendable {
    /// The store that all servers of a cluster share.
    var store: SecretService
    /// The name of the token in the store. It differs between keys, even if their IDs are the same.
    var name: String
  }

  private let issuer: Mutex<ProviderTokenIssuer>
  /// The place of the token in the store; `nil` for a source whose token ends with the process.
  private let place: Place?
  private let isRestored: Mutex<Bool>

  /// Creates a source. The source makes the first token when a push needs one.
  ///
  /// - Parameters:
  ///   - key: The team's key, from its `.p8` file.
  ///   - keyID: The key's ID, ten characters.
  ///   - teamID: The team's ID, ten characters.
  public convenience init(key: ES256PrivateKey, keyID: String, teamID: String) {
    self.init(key: key, keyID: keyID, teamID: teamID, keepingIn: nil)
  }

  /// Creates a source that keeps its token in a store. Call ``restored(_:)`` before each use.
  init(key: ES256PrivateKey, keyID: String, teamID: String, keepingIn place: Place?) {
    issuer = Mutex(ProviderTokenIssuer(key: key, keyID: keyID, teamID: teamID))
    self.place = place
    isRestored = Mutex(place == nil)
  }

  /// Runs `body` when the source has asked the store for the token of an earlier process: at once, or on
  /// another thread after the first calls.
  func restored(_ body: @escaping @Sendable () -> Void) {
    guard let place, !isRestored.withLock({ $0 }) else { return body() }
    Task {
      // If the store does not answer, the source makes a new token.
      if let state = try? await place.store.secret(named: place.name) {
        issuer.withLock { $0.restore(state) }
      }
      isRestored.withLock { $0 = true }
      body()
    }
  }

  private func keep(_ state: [UInt8]) {
    guard let place else { return }
    // If the store does not keep the token, the next process makes a new one.
    Task { try? await place.store.replaceSecret(named: place.name, by: state) }
  }

  /// Returns the token for a request. `nil` if APNs reported too many tokens in the last 20
  /// minutes, and no token is younger than an hour.
  ///
  /// - Throws: `CryptographyError` if the signature fails.
  func token(at now: Timestamp) throws(CryptographyError) -> String? {
    let (token, state) = try issuer.withLock { issuer throws(CryptographyError) in
      let before = issuer.tokenCount
      let token = try issuer.token(at: now)
      return (token, issuer.tokenCount == before ? nil : issuer.state)
    }
    if let state { keep(state) }
    return token
  }

  /// Handles a token that APNs reported as expired.
  ///
  /// - Returns: Whether the request can be repeated with another token.
  func rejected(_ token: String, at now: Timestamp) -> Bool {
    issuer.withLock { $0.rejected(token, at: now) }
  }

  /// Handles APNs' report that the key's tokens change too often.
  func complained(at now: Timestamp) {
    keep(
      issuer.withLock { issuer in
        issuer.complained(at: now)
        return issuer.state
      })
  }
}
