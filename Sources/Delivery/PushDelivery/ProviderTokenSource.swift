import CloudKitModel
import Cryptography
import Synchronization

/// The provider tokens of one key, for all connections of the process that use it: APNs counts how
/// often a key makes new ones.
///
/// A token is made when the first is needed, made anew at 50 minutes, and before that only when APNs
/// calls it expired and it is older than 20 minutes. After APNs complained of too many
/// (`TooManyProviderTokenUpdates`) none is made for 20 minutes.
/// (Apple, *Establishing a token-based connection to APNs*.)
public final class ProviderTokenSource: Sendable {
  private let issuer: Mutex<ProviderTokenIssuer>

  /// - Parameters:
  ///   - key: the team's key, from its `.p8` file.
  ///   - keyID: the key's ten characters.
  ///   - teamID: the team's ten characters.
  public init(key: ES256PrivateKey, keyID: String, teamID: String) {
    issuer = Mutex(ProviderTokenIssuer(key: key, keyID: keyID, teamID: teamID))
  }

  /// Nil while there is no token that APNs would take, for it asked for fewer.
  func token(at now: Timestamp) throws(CryptographyError) -> String? {
    try issuer.withLock { issuer throws(CryptographyError) in try issuer.token(at: now) }
  }

  /// Answers whether there is another token to repeat a request with, whose `token` APNs has called
  /// expired.
  func rejected(_ token: String, at now: Timestamp) -> Bool {
    issuer.withLock { $0.rejected(token, at: now) }
  }

  /// APNs says that tokens were changed too often.
  func complained(at now: Timestamp) {
    issuer.withLock { $0.complained(at: now) }
  }
}
