/// How often someone may make requests: so many a second for ever, and a number at once.
///
/// It is a token bucket: it holds up to `burst` requests, fills with `perSecond`, and a request takes
/// one out.
public struct RequestRate: Sendable, Hashable {
  /// What a rate is counted for.
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    /// A signed-in user, over all devices and containers.
    case user
    /// A server-to-server key.
    case serverKey
    /// An API token: everyone together whose requests bear it.
    case apiToken
    /// The address of a caller who is neither a user nor a key. An IPv6 address counts with the
    /// others of its /64 network, which one customer has for itself.
    case address
  }

  /// More than 0.
  public var perSecond: Double
  /// At least 1.
  public var burst: Int

  public init(perSecond: Double, burst: Int) {
    self.perSecond = perSecond
    self.burst = burst
  }
}
