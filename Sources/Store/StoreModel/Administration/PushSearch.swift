/// A page of a search through the notification log.
public struct PushSearch: Sendable, Hashable {
  /// The most entries that one call examines.
  public static let budget = 5_000
  /// The most deliveries of one entry in an answer.
  public static let deliveryLimit = 100

  /// The entries that the caller selected, newest first.
  public var found: [LoggedPush]
  /// The `sequence` to pass to the next call, which continues the search; nil at the end of the
  /// log. The value can be set although ``found`` has fewer entries than the limit, because a call
  /// examines at most ``budget`` entries.
  public var next: Int64?

  /// Creates a page, by default the last one.
  package init(found: [LoggedPush], next: Int64? = nil) {
    self.found = found
    self.next = next
  }
}
