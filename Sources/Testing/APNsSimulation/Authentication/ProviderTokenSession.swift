import CloudKitModel
import Cryptography

/// The state of a connection that depends on provider tokens: the last one that was accepted on it.
public struct ProviderTokenSession: Sendable {
  /// A token that was accepted.
  struct Accepted: Sendable {
    /// The text of the token.
    var text: String
    /// The parsed token.
    var token: ProviderToken
    /// The key that signed it; nil if keys are not checked.
    var key: ProviderKey?
  }

  /// The last accepted token; nil before the first.
  var accepted: Accepted?

  /// The state of a new connection.
  public init() {}

  /// Checks the `authorization` header of a request.
  ///
  /// Apple documents these rules:
  ///
  /// - The token is signed with ES256. Its key ID and team ID are known and belong together.
  /// - A token older than an hour is `ExpiredProviderToken`.
  /// - A connection belongs to one team and one key (`InvalidProviderToken`,
  ///   `UnrelatedKeyIdInToken`).
  /// - Tokens may be renewed once every 20 minutes (`TooManyProviderTokenUpdates`).
  ///
  /// Apple does not document two details, which are decided here:
  ///
  /// - The 20 minutes are counted between the times of issue of two tokens. So a token may be used
  ///   on a new connection shortly before its renewal.
  /// - A time of issue more than an hour ahead counts as expired too.
  ///
  /// - Parameters:
  ///   - keys: the registered keys by their IDs; nil accepts any key, whose signatures cannot be
  ///     checked.
  ///   - lifetime: the seconds after which a token is too old.
  ///   - expiry: the time up to which all tokens count as expired; nil for none.
  /// - Complexity: O(1) for the token that was accepted last; otherwise one verification of a
  ///   signature.
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

  /// Returns the token of an `authorization` header.
  ///
  /// - Throws: `MissingProviderToken` without a header of the form `bearer TOKEN`.
  private static func bearerToken(_ authorization: String?) throws(APNsRejection) -> String {
    guard let authorization else {
      throw APNsRejection(.missingProviderToken, "the authorization header is missing")
    }
    let parts = authorization.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer", !parts[1].isEmpty else {
      throw APNsRejection(
        .missingProviderToken, "the authorization header does not begin with 'bearer ' and a token")
    }
    return String(parts[1])
  }
}
