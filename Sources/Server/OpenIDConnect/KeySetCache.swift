import CloudKitModel

/// When an issuer's keys are fetched: when they are an hour old, so that keys that were withdrawn
/// are forgotten, and when a token names one that is not known, but for that once a minute at most,
/// so that made-up names do not reach the issuer.
struct KeySetCache: Sendable {
  enum Action: Sendable {
    case use(IssuerKey)
    case fetch
    /// There is no such key.
    case refuse
  }

  /// Seconds.
  static let lifetime = 3600.0
  /// Seconds between fetches for keys that are not known.
  static let pause = 60.0

  private var keys: IssuerKeySet?
  private var fetched = Timestamp(milliseconds: .min)

  /// What to do for a token that names a key.
  func action(
    forKeyNamed keyID: String?, algorithm: IssuerKey.Algorithm, at now: Timestamp
  ) -> Action {
    let age = now.seconds - fetched.seconds
    // Keys from what is now the future would be good for as long as the clock was set back.
    guard let keys, (0..<Self.lifetime).contains(age) else { return .fetch }
    if let key = keys.key(named: keyID, for: algorithm) { return .use(key) }
    return age < Self.pause ? .refuse : .fetch
  }

  mutating func take(_ keys: IssuerKeySet, at now: Timestamp) {
    self.keys = keys
    fetched = now
  }
}
