import CloudKitModel
import Cryptography
import Synchronization

/// The provider tokens of one key, for all connections of the process that use it, because APNs
/// counts how often a key makes new ones.
///
/// ``ProviderTokenIssuer`` decides when tokens are made: renewed at 50 minutes, earlier only if
/// APNs reports one as expired that is older than 20 minutes, and none for 20 minutes after APNs
/// reported too many (`TooManyProviderTokenUpdates`). (Apple, *Establishing a token-based
/// connection to APNs*.)
public final class ProviderTokenSource: Sendable {
  private let issuer: Mutex<ProviderTokenIssuer>

  /// - Parameters:
  ///   - key: the team's key, from its `.p8` file.
  ///   - keyID: the key's ten characters.
  ///   - teamID: the team's ten characters.
  public init(key: ES256PrivateKey, keyID: String, teamID: String) {
    issuer = Mutex(ProviderTokenIssuer(key: key, keyID: keyID, teamID: teamID))
  }

  /// Nil while there is no token that APNs would accept, because it asked for fewer.
  func token(at now: Timestamp) throws(CryptographyError) -> String? {
    try issuer.withLock { issuer throws(CryptographyError) in try issuer.token(at: now) }
  }

  /// Handles a `token` that APNs reported as expired. Returns whether there is another token to
  /// repeat the request with.
  func rejected(_ token: String, at now: Timestamp) -> Bool {
    issuer.withLock { $0.rejected(token, at: now) }
  }

  /// Handles APNs' report that tokens change too often.
  func complained(at now: Timestamp) {
    issuer.withLock { $0.complained(at: now) }
  }
}
