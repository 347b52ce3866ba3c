import CloudKitModel
import Cryptography
import Foundation
import JSONCoding

/// The maker of the provider tokens of one key. A provider token is a signed text with which a
/// sender proves its identity to APNs. The issuer decides when to make a new token.
///
/// APNs refuses tokens older than an hour. APNs also refuses senders that make new tokens more
/// often than every 20 minutes. The rules:
///
/// - The first token is made when a request needs it.
/// - A token is renewed at an age of 50 minutes.
/// - If APNs reports a token as expired, the token is renewed earlier, but not before an age of 20
///   minutes.
/// - After APNs reported too many tokens, the issuer makes no token for 20 minutes.
///
/// The issuer is a value: its caller passes the time. (Apple, *Establishing a token-based
/// connection to APNs*.)
struct ProviderTokenIssuer: Sendable {
  /// The age in seconds at which a token is renewed.
  static let renewalAge = 3000.0
  /// The least age in seconds at which a token that APNs reported as expired is replaced. The wait
  /// after a report of too many tokens is as long.
  static let leastAge = 1200.0
  /// The age in seconds after which APNs refuses a token.
  static let greatestAge = 3600.0

  private let key: ES256PrivateKey
  /// The ten characters of the key's ID, the `kid` of a token.
  private let keyID: String
  /// The ten characters of the team's ID, the `iss` of a token.
  private let teamID: String
  /// The present token; `nil` before the first token, and after APNs rejected the last one as
  /// expired.
  private var current: Issue?
  /// The time of the last report of too many tokens; `nil` if the wait is over.
  private var complaint: Timestamp?
  private(set) var tokenCount = 0

  /// A token with the time of its creation.
  private struct Issue {
    var text: String
    /// The time from which the token's age counts: its creation, or the time at which the issuer
    /// noticed that the clock was set back.
    var time: Timestamp
  }

  init(key: ES256PrivateKey, keyID: String, teamID: String) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
  }

  /// Returns the token for a request. The method makes a new token if there is none, or if the
  /// present token is 50 minutes old.
  ///
  /// - Returns: The token; `nil` if no token is younger than an hour and the issuer may not make a
  ///   new one now.
  /// - Throws: `CryptographyError` if the signature fails.
  mutating func token(at now: Timestamp) throws(CryptographyError) -> String? {
    let age = age(at: now)
    if let current, age < Self.renewalAge { return current.text }
    guard mayMakeToken(at: now) else { return age < Self.greatestAge ? current?.text : nil }
    let text = try makeToken(at: now)
    current = Issue(text: text, time: now)
    tokenCount += 1
    return text
  }

  /// Handles a token that APNs reported as expired.
  ///
  /// - Returns: Whether the request can be repeated with another token: one that exists, or one
  ///   that may be made now.
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

  /// The state that a later process continues with, as JSON: the present token with its time, and the time
  /// of the last report of too many tokens.
  var state: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      if let current {
        writer.member("token", current.text)
        writer.member("made", current.time.milliseconds)
      }
      if let complaint { writer.member("complained", complaint.milliseconds) }
    }
    return writer.bytes
  }

  /// Continues with the ``state`` of an earlier process. The method changes nothing if the issuer has made a
  /// token already, or if the bytes are no state.
  mutating func restore(_ state: [UInt8]) {
    // Without a state, the issuer makes a new token, as in a new store.
    guard current == nil, let state = try? JSONValue(parsing: Data(state)) else { return }
    if let text = state["token"]?.string, let made = state["made"]?.int {
      current = Issue(text: text, time: Timestamp(milliseconds: made))
    }
    complaint = state["complained"]?.int.map { Timestamp(milliseconds: $0) }
  }

  /// Returns whether a new token may be made: 20 minutes must have passed since the last report of
  /// too many tokens. Forgets the report when the wait is over.
  private mutating func mayMakeToken(at now: Timestamp) -> Bool {
    guard let complaint else { return true }
    // `abs`: without it, a clock that was set back would make the wait longer.
    guard abs(now.seconds - complaint.seconds) < Self.leastAge else {
      self.complaint = nil
      return true
    }
    return false
  }

  /// Returns the age of the present token in seconds; infinity if there is none.
  ///
  /// If the clock was set back to before the token's creation, the method counts the age from now
  /// on. Otherwise the issuer would use the token for too long.
  private mutating func age(at now: Timestamp) -> Double {
    guard let issue = current else { return .infinity }
    if now < issue.time { current?.time = now }
    return max(0, now.seconds - issue.time.seconds)
  }

  /// Returns a new JSON Web Token (RFC 7519), signed with ES256. Its members are `alg`, `kid`,
  /// `iss` and `iat`.
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
