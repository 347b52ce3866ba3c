/// Decides whether a server may have behaved as its clients saw it.
///
/// - Each record is linearizable with its change tags: fetches, zone feeds and conflicts show what some
///   order of the writes explains that agrees with the clock.
/// - Zone feeds are complete, which is the same for a reader's knowledge after each reading, and in order.
/// - Each change is in the log of whom it concerns: once, not before its cause, for no other user.
/// - Each line of the log was pushed, under one name, to every device but that of the change.
public enum HistoryChecker {
  /// Returns the violations in the history; empty if the history is possible.
  public static func violations(of history: History) -> [Violation] {
    let sightings = Sightings(of: history)
    var records = RecordChecker(history, sightings)
    var notifications = NotificationChecker(history, sightings)
    var pushes = PushChecker(history)
    return records.check() + FeedOrderChecker(history).check() + notifications.check()
      + pushes.check()
  }
}
