import CloudKitModel
import Cryptography
import Synchronization

/// The source of the provider tokens of one key, shared by all connections of the process that use
/// the key.
///
/// The connections share the source because APNs counts how often a key makes new tokens.
/// ``ProviderTokenIssuer`` decides when a token is made:
///
/// - A token is renewed at an age of 50 minutes.
/// - A token is renewed earlier only if APNs reports it as expired and it is older than 20 minutes.
/// - No token is made for 20 minutes after `TooManyProviderTokenUpdates`.
///
/// A lock protects the issuer, so any thread may use the source. (Apple, *Establishing a
/// token-based connection to APNs*.)
public final class ProviderTokenSource: Sendable {
  /// The issuer, under the lock.
  private let issuer: Mutex<ProviderTokenIssuer>

  /// Creates a source. It makes the first token when a push needs it.
  ///
  /// - Parameters:
  ///   - key: The team's key, from its `.p8` file.
  ///   - keyID: The key's ten characters.
  ///   - teamID: The team's ten characters.
  public init(key: ES256PrivateKey, keyID: String, teamID: String) {
    issuer = Mutex(ProviderTokenIssuer(key: key, keyID: keyID, teamID: teamID))
  }

  /// Returns the token for a request; `nil` while there is none that APNs would accept, because
  /// APNs reported too many tokens.
  func token(at now: Timestamp) throws(CryptographyError) -> String? {
    try issuer.withLock { issuer throws(CryptographyError) in try issuer.token(at: now) }
  }

  /// Handles a token that APNs reported as expired.
  ///
  /// - Returns: Whether there is another token to repeat the request with.
  func rejected(_ token: String, at now: Timestamp) -> Bool {
    issuer.withLock { $0.rejected(token, at: now) }
  }

  /// Handles APNs' report that tokens change too often.
  func complained(at now: Timestamp) {
    issuer.withLock { $0.complained(at: now) }
  }
}
