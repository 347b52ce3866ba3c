import CloudKitModel

/// The cache of an issuer's keys. The cache decides when the keys must be downloaded, and
/// ``Issuer`` downloads them.
///
/// After the first download, there are two reasons for another one:
///
/// - The keys are one hour old. A key that the issuer has withdrawn is therefore accepted for one
///   hour at most.
/// - A token names an unknown key, and the last download was at least one minute ago. Without this
///   minute, each token with an invented name would cause a request to the issuer.
struct KeySetCache: Sendable {
  /// The next step for a token.
  enum Action: Sendable {
    case use(IssuerKey)
    /// The caller must download the keys, pass them to ``KeySetCache/take(_:at:)``, and call
    /// ``KeySetCache/action(forKeyNamed:algorithm:at:)`` again.
    case fetch
    case refuse
  }

  /// The time in seconds for which keys are used.
  static let lifetime = 3600.0
  /// The minimum time in seconds from a download to a download for an unknown key.
  static let pause = 60.0

  private var keys: IssuerKeySet?
  /// The time of the last download.
  private var fetched = Timestamp(milliseconds: .min)

  /// Returns the next step for a token. The key ID is nil if the token names none.
  func action(
    forKeyNamed keyID: String?, algorithm: IssuerKey.Algorithm, at now: Timestamp
  ) -> Action {
    let age = now.seconds - fetched.seconds
    // If the clock was set back, the age can be negative, and the keys would be used for too long.
    // So a negative age causes a download too.
    guard let keys, (0..<Self.lifetime).contains(age) else { return .fetch }
    if let key = keys.key(named: keyID, for: algorithm) { return .use(key) }
    return age < Self.pause ? .refuse : .fetch
  }

  mutating func take(_ keys: IssuerKeySet, at now: Timestamp) {
    self.keys = keys
    fetched = now
  }
}
