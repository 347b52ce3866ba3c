import CloudKitModel

/// The cache of an issuer's keys. It decides when the keys are downloaded; ``Issuer`` downloads
/// them.
///
/// There are two reasons for a download:
///
/// - The keys are one hour old. Keys that the issuer has withdrawn then stop working.
/// - A token names an unknown key, and the last download was at least one minute ago. The minute
///   prevents invented names from causing a request to the issuer each time.
struct KeySetCache: Sendable {
  /// The next step for a token.
  enum Action: Sendable {
    /// The key is known.
    case use(IssuerKey)
    /// The keys must be downloaded; then the cache must be asked again.
    case fetch
    /// The issuer has no such key.
    case refuse
  }

  /// The time in seconds for which keys are used.
  static let lifetime = 3600.0
  /// The minimum time in seconds between two downloads for unknown keys.
  static let pause = 60.0

  private var keys: IssuerKeySet?
  /// The time of the last download.
  private var fetched = Timestamp(milliseconds: .min)

  /// Returns the next step for a token that names a key.
  ///
  /// - Parameter keyID: the key's name; nil if the token names none.
  func action(
    forKeyNamed keyID: String?, algorithm: IssuerKey.Algorithm, at now: Timestamp
  ) -> Action {
    let age = now.seconds - fetched.seconds
    // If the clock was set back, the keys seem to come from the future. They would then be used too
    // long.
    guard let keys, (0..<Self.lifetime).contains(age) else { return .fetch }
    if let key = keys.key(named: keyID, for: algorithm) { return .use(key) }
    return age < Self.pause ? .refuse : .fetch
  }

  /// Replaces the keys after a download.
  mutating func take(_ keys: IssuerKeySet, at now: Timestamp) {
    self.keys = keys
    fetched = now
  }
}
