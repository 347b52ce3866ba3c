import CloudKitModel

/// What is known of someone who tries to sign in.
public struct AttemptHistory: Sendable, Hashable {
  /// Attempts in vain, and those that have not ended.
  public var wrong: Int
  /// When the last one began.
  public var last: Timestamp

  public init(wrong: Int = 0, last: Timestamp) {
    self.wrong = wrong
    self.last = last
  }
}
