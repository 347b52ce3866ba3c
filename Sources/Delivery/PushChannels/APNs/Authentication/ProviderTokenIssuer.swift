import CloudKitModel
import Cryptography
import JSONCoding

/// Makes the provider tokens of one key, and decides when a new one is due.
///
/// APNs refuses tokens older than an hour, and senders that make new ones more often than every 20
/// minutes. The first token is made when it is needed, and renewed at 50 minutes. It is renewed
/// earlier only if APNs reports it as expired and it is older than 20 minutes. After APNs reported
/// too many tokens, none is made for 20 minutes. (Apple, *Establishing a token-based connection to
/// APNs*.)
struct ProviderTokenIssuer: Sendable {
  /// Seconds after which a token is renewed.
  static let renewalAge = 3000.0
  /// Seconds within which no second token is made.
  static let leastAge = 1200.0
  /// Seconds after which APNs refuses a token.
  static let greatestAge = 3600.0

  private let key: ES256PrivateKey
  private let keyID: String
  private let teamID: String
  private var current: Issue?
  /// When APNs last reported too many tokens.
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

  /// The token for a request now; nil if there is none that APNs would accept and no other may be
  /// made.
  mutating func token(at now: Timestamp) throws(CryptographyError) -> String? {
    let age = age(at: now)
    if let current, age < Self.renewalAge { return current.text }
    guard mayMakeToken(at: now) else { return age < Self.greatestAge ? current?.text : nil }
    let text = try makeToken(at: now)
    current = Issue(text: text, time: now)
    return text
  }

  /// Handles a token that APNs reported as expired. Returns whether another one exists, or may be
  /// made now, to repeat the request.
  mutating func rejected(_ token: String, at now: Timestamp) -> Bool {
    guard let current, current.text == token else { return true }
    guard age(at: now) >= Self.leastAge, mayMakeToken(at: now) else { return false }
    self.current = nil
    return true
  }

  /// Handles APNs' report that the key's tokens change too often.
  mutating func complained(at now: Timestamp) {
    complaint = now
  }

  private mutating func mayMakeToken(at now: Timestamp) -> Bool {
    guard let complaint else { return true }
    // If the clock was set back, the wait would be longer by as much.
    guard abs(now.seconds - complaint.seconds) < Self.leastAge else {
      self.complaint = nil
      return true
    }
    return false
  }

  /// Seconds since the present token was made. If the clock was set back, they count from now, so
  /// that a token from the future does not live until then.
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
