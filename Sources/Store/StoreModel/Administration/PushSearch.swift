/// A page of a search through the notification log.
public struct PushSearch: Sendable, Hashable {
  /// The most entries that one call examines.
  public static let budget = 5_000
  /// The most deliveries of one entry in an answer.
  public static let deliveryLimit = 100

  /// The entries that the caller selected, newest first.
  public var found: [LoggedPush]
  /// The sequence before which the search continues; nil at the end. It can be set although fewer
  /// entries than the limit were found, because a call examines at most ``budget`` entries.
  public var next: Int64?

  /// Creates a page, by default the last one.
  package init(found: [LoggedPush], next: Int64? = nil) {
    self.found = found
    self.next = next
  }
}
