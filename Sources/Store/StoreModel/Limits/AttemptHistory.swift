import CloudKitModel

/// The recent sign-in attempts of one subject: an account, a network address, or a pair of both.
public struct AttemptHistory: Sendable, Hashable {
  /// The number of failed attempts and attempts under way. An attempt counts from its beginning,
  /// and no longer counts if it succeeds.
  public var wrong: Int
  /// The time at which the last attempt began.
  public var last: Timestamp

  /// Creates a history, by default one without a wrong attempt.
  public init(wrong: Int = 0, last: Timestamp) {
    self.wrong = wrong
    self.last = last
  }
}
