/// A limit for the rate of requests: an average rate, and a number of requests that may arrive at
/// once.
///
/// The limit works as a token bucket. The bucket contains at most `burst` tokens, and `perSecond`
/// tokens are added each second. Each request removes one token. If there is no token, the server
/// refuses the request.
public struct RequestRate: Sendable, Hashable {
  /// The caller whose requests count together.
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    /// A signed-in user. The requests of all devices and containers count together.
    case user
    /// A server-to-server key.
    case serverKey
    /// An API token. All requests with the token count together, also those of different users.
    case apiToken
    /// The address of a caller that is neither a user nor a server-to-server key. All addresses of
    /// an IPv6 /64 network count together, because one customer usually has a whole /64 network.
    case address
  }

  /// The number of requests in a second, averaged over a long time; more than 0.
  public var perSecond: Double
  /// The number of requests that may arrive at once after a pause; at least 1.
  public var burst: Int

  /// Creates a limit without checking the ranges of its values.
  public init(perSecond: Double, burst: Int) {
    self.perSecond = perSecond
    self.burst = burst
  }
}
