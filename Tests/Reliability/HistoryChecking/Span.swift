/// The time in which something happened that a client asked for, in nanoseconds of one clock.
public struct Span: Codable, Hashable, Sendable {
  /// When the client asked.
  public var began: Int64
  /// When it had the answer; ``never`` when it never got one.
  public var ended: Int64

  public static let never = Int64.max

  public init(began: Int64, ended: Int64 = never) {
    self.began = began
    self.ended = ended
  }

  /// Whether the answer was there before the other was asked for.
  public func isBefore(_ other: Span) -> Bool { ended < other.began }
}
