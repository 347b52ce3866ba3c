import CloudKitModel
import Cryptography
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
/// A lock protects the issuer, so any thread may use the source. (Apple, *Establishing a
/// token-based connection to APNs*.)
public final class ProviderTokenSource: Sendable {
  /// The issuer, under the lock.
  private let issuer: Mutex<ProviderTokenIssuer>

  /// Creates a source. The source makes the first token when a push needs one.
  ///
  /// - Parameters:
  ///   - key: The team's key, from its `.p8` file.
  ///   - keyID: The key's ID, ten characters.
  ///   - teamID: The team's ID, ten characters.
  public init(key: ES256PrivateKey, keyID: String, teamID: String) {
    issuer = Mutex(ProviderTokenIssuer(key: key, keyID: keyID, teamID: teamID))
  }

  /// Returns the token for a request. `nil` if APNs reported too many tokens in the last 20
  /// minutes, and no token is younger than an hour.
  ///
  /// - Throws: `CryptographyError` if the signature fails.
  func token(at now: Timestamp) throws(CryptographyError) -> String? {
    try issuer.withLock { issuer throws(CryptographyError) in try issuer.token(at: now) }
  }

  /// Handles a token that APNs reported as expired.
  ///
  /// - Returns: Whether the request can be repeated with another token.
  func rejected(_ token: String, at now: Timestamp) -> Bool {
    issuer.withLock { $0.rejected(token, at: now) }
  }

  /// Handles APNs' report that the key's tokens change too often.
  func complained(at now: Timestamp) {
    issuer.withLock { $0.complained(at: now) }
  }
}
