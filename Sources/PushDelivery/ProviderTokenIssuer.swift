import CloudKitModel
import Cryptography
import JSONCoding

/// Makes the provider tokens of one key and decides when a new one is due.
///
/// APNs refuses tokens that are older than an hour, and senders that make new ones more often than
/// every 20 minutes. A token is made when the first is needed, made anew at 50 minutes, and made
/// anew before that only when APNs calls it expired and it is older than 20 minutes.
/// (Apple, *Establishing a token-based connection to APNs*.)
struct ProviderTokenIssuer: Sendable {
  /// Seconds after which a token is replaced.
  static let renewalAge = 3000.0
  /// Seconds within which no second token is made.
  static let leastAge = 1200.0

  private let key: ES256PrivateKey
  private let keyID: String
  private let teamID: String
  private var current: (text: String, issued: Timestamp)?

  init(key: ES256PrivateKey, keyID: String, teamID: String) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
  }

  /// The token to send with a request now.
  mutating func token(at now: Timestamp) throws(CryptographyError) -> String {
    if let current, age(of: current.issued, at: now) < Self.renewalAge { return current.text }
    let text = try makeToken(at: now)
    current = (text, now)
    return text
  }

  /// APNs has called a token expired. Answers whether there is, or may now be made, another one to
  /// repeat the request with.
  mutating func rejected(_ token: String, at now: Timestamp) -> Bool {
    guard let current, current.text == token else { return true }
    guard age(of: current.issued, at: now) >= Self.leastAge else { return false }
    self.current = nil
    return true
  }

  private func age(of issued: Timestamp, at now: Timestamp) -> Double {
    now.seconds - issued.seconds
  }

  private func makeToken(at now: Timestamp) throws(CryptographyError) -> String {
    var header = JSONWriter()
    header.object { writer in
      writer.member("alg", "ES256")
      writer.member("kid", keyID)
    }
    var claims = JSONWriter()
    claims.object { writer in
      writer.member("iss", teamID)
      writer.member("iat", now.milliseconds / 1000)
    }
    let signed = Base64URL.encode(header.bytes) + "." + Base64URL.encode(claims.bytes)
    return signed + "." + Base64URL.encode(try key.signature(for: signed.utf8).raw)
  }
}
