import CloudKitModel
import Cryptography

/// What a connection remembers of the provider tokens that were used on it.
public struct ProviderTokenSession: Sendable {
  /// A token whose signature was found good.
  struct Accepted: Sendable {
    var text: String
    var token: ProviderToken
    var key: ProviderKey?
  }

  var accepted: Accepted?

  public init() {}

  /// Checks the `authorization` header of a request.
  ///
  /// What Apple documents: ES256, key ID and team ID must be known and go together; a token older
  /// than an hour is `ExpiredProviderToken`; a connection belongs to one team and one key
  /// (`InvalidProviderToken`, `UnrelatedKeyIdInToken`); tokens may be renewed once every 20 minutes
  /// (`TooManyProviderTokenUpdates`). What Apple does not say and is decided here: the 20 minutes
  /// are counted between the times of issue of two tokens, so that a token which is used on a new
  /// connection shortly before its renewal does no harm; and a time of issue more than an hour
  /// ahead counts as expired too.
  ///
  /// - Parameters:
  ///   - keys: the registered keys; nil takes any key, whose signatures cannot be checked.
  ///   - lifetime: seconds after which a token is too old.
  ///   - expiry: tokens that were issued until then count as expired too.
  /// - Complexity: O(1) for a token that was accepted before; else one verification of a signature.
  mutating func check(
    authorization: String?, keys: [String: ProviderKey]?, now: Timestamp,
    lifetime: Int64 = ProviderToken.lifetime, expiry: Timestamp? = nil
  ) throws(APNsRejection) {
    let text = try Self.bearerToken(authorization)
    if let accepted, accepted.text == text {
      try accepted.token.checkAge(now: now, lifetime: lifetime, expiry: expiry)
      return
    }
    let token = try ProviderToken(parsing: text)
    let key = try keys.map { keys throws(APNsRejection) in
      try token.verify(with: keys)
    }
    try token.checkAge(now: now, lifetime: lifetime, expiry: expiry)
    if let previous = accepted?.token { try token.check(against: previous) }
    accepted = Accepted(text: text, token: token, key: key)
  }

  private static func bearerToken(_ authorization: String?) throws(APNsRejection) -> String {
    guard let authorization else {
      throw APNsRejection(.missingProviderToken, "there is no authorization header")
    }
    let parts = authorization.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer", !parts[1].isEmpty else {
      throw APNsRejection(
        .missingProviderToken, "the authorization header does not begin with 'bearer ' and a token")
    }
    return String(parts[1])
  }
}
