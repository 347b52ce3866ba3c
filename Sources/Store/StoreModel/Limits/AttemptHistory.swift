import CloudKitModel

/// The recent sign-in attempts of one subject.
public struct AttemptHistory: Sendable, Hashable {
  /// Failed attempts and attempts under way.
  public var wrong: Int
  /// When the last one began.
  public var last: Timestamp

  public init(wrong: Int = 0, last: Timestamp) {
    self.wrong = wrong
    self.last = last
  }
}
