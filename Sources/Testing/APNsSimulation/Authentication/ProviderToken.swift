import CloudKitModel
import Cryptography
import JSONCoding

/// The parts of a provider token: a JSON Web Token (RFC 7519), signed with ES256.
struct ProviderToken: Sendable {
  /// The ID of the key that signed the token (`kid`).
  var keyID: String
  /// The ID of the team (`iss`).
  var teamID: String
  /// The time at which the token was issued (`iat`), in whole seconds.
  var issued: Timestamp
  /// The text that was signed: header and claims in base64url, joined by a dot.
  private var signedText: String
  /// The signature, 64 bytes.
  private var signature: ES256Signature

  /// The seconds after which a token is too old.
  static let lifetime: Int64 = 3600
  /// The least number of seconds between the times of issue of two tokens.
  static let leastAgeForRenewal: Int64 = 1200

  /// Parses a token.
  ///
  /// - Throws: ``APNsReason/invalidProviderToken``, with the part that is wrong.
  init(parsing text: String) throws(APNsRejection) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw Self.invalid("it has \(parts.count) parts instead of three")
    }
    let header = try Self.object(parts[0], "header")
    let claims = try Self.object(parts[1], "claims")
    guard header["alg"]?.string == "ES256" else {
      throw Self.invalid("alg is \(header["alg"]?.text ?? "absent") instead of \"ES256\"")
    }
    guard let keyID = header["kid"]?.string else { throw Self.invalid("kid is absent") }
    guard let teamID = claims["iss"]?.string else { throw Self.invalid("iss is absent") }
    guard let issued = claims["iat"]?.int, issued.magnitude < 1 << 40 else {
      throw Self.invalid(
        "iat is \(claims["iat"]?.text ?? "absent") instead of a number of whole seconds")
    }
    guard let bytes = Base64URL.decode(parts[2]),
      // Bytes that are not a signature give nil, which is refused below.
      let signature = try? ES256Signature(raw: bytes)
    else { throw Self.invalid("the signature is not 64 bytes in base64url") }
    self.keyID = keyID
    self.teamID = teamID
    self.issued = Timestamp(milliseconds: issued * 1000)
    self.signature = signature
    signedText = "\(parts[0]).\(parts[1])"
  }

  /// Verifies the token's signature and returns the key that made it.
  ///
  /// - Throws: ``APNsReason/invalidProviderToken`` if the key is unknown, belongs to another team,
  ///   or did not make the signature.
  func verify(with keys: [String: ProviderKey]) throws(APNsRejection) -> ProviderKey {
    guard let key = keys[keyID] else { throw Self.invalid("no key has the ID '\(keyID)'") }
    guard key.teamID == teamID else {
      throw Self.invalid("key '\(keyID)' does not belong to team '\(teamID)'")
    }
    guard key.publicKey.isValid(signature: signature, for: signedText.utf8) else {
      throw Self.invalid("the signature was not made with key '\(keyID)'")
    }
    return key
  }

  /// Checks the token's time of issue.
  ///
  /// - Parameters:
  ///   - lifetime: the greatest number of seconds between the time of issue and now. The time of
  ///     issue may be before or after now.
  ///   - expiry: tokens that were issued up to this time count as expired; nil for no such tokens.
  /// - Throws: ``APNsReason/expiredProviderToken``.
  func checkAge(now: Timestamp, lifetime: Int64, expiry: Timestamp?) throws(APNsRejection) {
    let age = (now.milliseconds - issued.milliseconds) / 1000
    guard age.magnitude <= lifetime else {
      throw APNsRejection(
        .expiredProviderToken,
        "the token was issued at \(issued.iso8601), \(age) s ago; the limit is \(lifetime) s")
    }
    if let expiry, issued <= expiry {
      throw APNsRejection(
        .expiredProviderToken, "fault: tokens issued until \(expiry.iso8601) have expired")
    }
  }

  /// Checks that a connection on which `previous` was used may now use this token.
  ///
  /// - Throws: ``APNsReason/invalidProviderToken`` for another team,
  ///   ``APNsReason/unrelatedKeyInToken`` for another key.
  ///   ``APNsReason/tooManyProviderTokenUpdates`` if the times of issue are less than 20 minutes
  ///   apart.
  func check(against previous: ProviderToken) throws(APNsRejection) {
    guard teamID == previous.teamID else {
      throw Self.invalid(
        "the connection belongs to team '\(previous.teamID)', the token to team '\(teamID)'")
    }
    guard keyID == previous.keyID else {
      throw APNsRejection(
        .unrelatedKeyInToken,
        "the connection was used with key '\(previous.keyID)', the token has key '\(keyID)'")
    }
    let seconds = (issued.milliseconds - previous.issued.milliseconds) / 1000
    guard seconds.magnitude >= Self.leastAgeForRenewal else {
      throw APNsRejection(
        .tooManyProviderTokenUpdates,
        "the token was issued \(seconds) s after the previous one; a new one may be used every "
          + "\(Self.leastAgeForRenewal) s")
    }
  }

  private static func object(
    _ part: Substring, _ name: String
  ) throws(APNsRejection) -> JSONValue {
    guard let bytes = Base64URL.decode(part),
      // A text that is not JSON gives nil, which is refused below.
      let value = try? JSONValue(parsing: String(decoding: bytes, as: UTF8.self)),
      value.object != nil
    else { throw invalid("its \(name) part is not a JSON object in base64url") }
    return value
  }

  private static func invalid(_ detail: String) -> APNsRejection {
    APNsRejection(.invalidProviderToken, "the provider token is not valid: " + detail)
  }
}
