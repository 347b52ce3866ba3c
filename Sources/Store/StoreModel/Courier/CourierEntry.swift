/// The next notification for a reader of the web courier.
public struct CourierEntry: Sendable, Hashable {
  /// The notification.
  public var entry: LogEntry
  /// The reader's badge with this notification; nil if the subscription asks for none.
  public var badge: Int?

  /// Creates an entry with the badge that the reader is to show.
  public init(entry: LogEntry, badge: Int?) {
    self.entry = entry
    self.badge = badge
  }
}
