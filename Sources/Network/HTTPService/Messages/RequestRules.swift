/// The rules for a request that the server must know before it receives the body.
public struct RequestRules: Sendable, Hashable {
  /// The size and the place of a body.
  public enum Body: Sendable, Hashable {
    /// In memory, at most ``HTTPServer/Configuration/smallBodySize``.
    case small
    /// In memory, at most ``HTTPServer/Configuration/maximumBodySize``.
    case large
    /// In a file (``HTTPServer/Configuration/spooling``); as ``large`` if the server has no folder for files.
    case file
  }

  /// The size and the place of the body; the default is ``Body/large``.
  public var body: Body
  /// Whether the request is served when the server is full.
  public var mayUseReserve: Bool
  /// Whether the request counts for ``HTTPServer/Configuration/overdueRequests`` and may be refused
  /// because of it. Not for a request that waits by design, such as a long poll.
  public var mayBeOverdue: Bool

  /// Creates rules; by default those of a request that is neither urgent nor ever refused as overdue.
  public init(body: Body = .large, mayUseReserve: Bool = false, mayBeOverdue: Bool = false) {
    self.body = body
    self.mayUseReserve = mayUseReserve
    self.mayBeOverdue = mayBeOverdue
  }
}
