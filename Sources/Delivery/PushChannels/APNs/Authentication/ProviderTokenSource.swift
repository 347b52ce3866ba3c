import CloudKitModel
import Cryptography
import Synchronization

/// The source of the provider tokens of one key, shared by all connections of the process that use
/// the key.
///
/// It is shared because APNs counts how often a key makes new tokens. ``ProviderTokenIssuer``
/// decides when a token is made:
///
/// - renewed at 50 minutes;
/// - earlier only if APNs reports a token older than 20 minutes as expired;
/// - none for 20 minutes after `TooManyProviderTokenUpdates`.
///
/// A lock protects it, so any thread may use it. (Apple, *Establishing a token-based connection to
/// APNs*.)
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
