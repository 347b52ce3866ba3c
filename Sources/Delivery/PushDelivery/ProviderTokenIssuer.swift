import CloudKitModel
import Cryptography
import JSONCoding

/// Makes the provider tokens of one key and decides when a new one is due.
///
/// APNs refuses tokens that are older than an hour, and senders that make new ones more often than
/// every 20 minutes. A token is made when the first is needed, made anew at 50 minutes, and made
/// anew before that only when APNs calls it expired and it is older than 20 minutes. After APNs
/// complained of too many no other is made for 20 minutes.
/// (Apple, *Establishing a token-based connection to APNs*.)
struct ProviderTokenIssuer: Sendable {
  /// Seconds after which a token is replaced.
  static let renewalAge = 3000.0
  /// Seconds within which no second token is made.
  static let leastAge = 1200.0
  /// Seconds after which APNs does not take a token any more.
  static let greatestAge = 3600.0

  private let key: ES256PrivateKey
  private let keyID: String
  private let teamID: String
  private var current: Issue?
  /// When APNs last complained of too many tokens.
  private var complaint: Timestamp?

  private struct Issue {
    var text: String
    /// When it was made; earlier if the clock was set back since.
    var time: Timestamp
  }

  init(key: ES256PrivateKey, keyID: String, teamID: String) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
  }

  /// The token to send with a request now; nil while there is none that APNs would take and no other
  /// may be made.
  mutating func token(at now: Timestamp) throws(CryptographyError) -> String? {
    let age = age(at: now)
    if let current, age < Self.renewalAge { return current.text }
    guard mayMakeToken(at: now) else { return age < Self.greatestAge ? current?.text : nil }
    let text = try makeToken(at: now)
    current = Issue(text: text, time: now)
    return text
  }

  /// APNs has called a token expired. Answers whether there is, or may now be made, another one to
  /// repeat the request with.
  mutating func rejected(_ token: String, at now: Timestamp) -> Bool {
    guard let current, current.text == token else { return true }
    guard age(at: now) >= Self.leastAge, mayMakeToken(at: now) else { return false }
    self.current = nil
    return true
  }

  /// APNs says that the key's tokens were changed too often.
  mutating func complained(at now: Timestamp) {
    complaint = now
  }

  private mutating func mayMakeToken(at now: Timestamp) -> Bool {
    guard let complaint else { return true }
    // A clock that was set back would make the wait as long as it was set back.
    guard abs(now.seconds - complaint.seconds) < Self.leastAge else {
      self.complaint = nil
      return true
    }
    return false
  }

  /// Seconds since the present token was made. When the clock was set back they count from now, so
  /// that a token from what is now the future does not live on until then.
  private mutating func age(at now: Timestamp) -> Double {
    guard let issue = current else { return .infinity }
    if now < issue.time { current?.time = now }
    return max(0, now.seconds - issue.time.seconds)
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
