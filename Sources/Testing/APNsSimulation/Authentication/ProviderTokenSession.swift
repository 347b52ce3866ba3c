import CloudKitModel
import Cryptography

/// The state of one connection for the checks of provider tokens: the last token that was accepted
/// on the connection.
public struct ProviderTokenSession: Sendable {
  /// A token that was accepted.
  struct Accepted: Sendable {
    var text: String
    var token: ProviderToken
    /// The key that signed the token; nil if keys are not checked.
    var key: ProviderKey?
  }

  /// The last accepted token; nil before the first one.
  var accepted: Accepted?

  /// Creates the state of a new connection.
  public init() {}

  /// Checks the provider token in the `authorization` header of a request, and keeps an accepted
  /// token as the last one.
  ///
  /// Apple documents these rules:
  ///
  /// - The token is signed with ES256. Its key ID and team ID are known and belong together.
  /// - A token older than an hour is refused (`ExpiredProviderToken`).
  /// - All tokens on a connection are of one team and one key. Others are refused
  ///   (`InvalidProviderToken`, `UnrelatedKeyIdInToken`).
  /// - A token may be replaced at most once every 20 minutes. A new token that comes earlier is
  ///   refused (`TooManyProviderTokenUpdates`).
  ///
  /// Apple does not document two details. The simulator decides them:
  ///
  /// - The 20 minutes count from the time of issue of one token to that of the next. So a sender
  ///   may use an old token on a new connection and replace it shortly after.
  /// - A token whose time of issue is more than an hour in the future counts as expired too.
  ///
  /// - Parameters:
  ///   - keys: the registered keys by their IDs. Nil accepts tokens of any key, without a check of
  ///     the signature.
  ///   - lifetime: the seconds after which a token is too old.
  ///   - expiry: tokens that were issued up to this time count as expired; nil for no such tokens.
  /// - Complexity: if the request has the last accepted token again, the method compares the text
  ///   and checks the age. It parses any other token, and verifies its signature if there are
  ///   `keys`.
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

  /// Returns the token in an `authorization` header.
  ///
  /// - Throws: ``APNsReason/missingProviderToken`` if the header is missing or does not have the
  ///   format `bearer TOKEN`.
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
