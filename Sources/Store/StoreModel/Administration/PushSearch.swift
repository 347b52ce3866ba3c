/// A page of a search through the notification log.
public struct PushSearch: Sendable, Hashable {
  /// Entries that one call looks at.
  public static let budget = 5_000
  /// Deliveries of one entry that an answer has at most.
  public static let deliveryLimit = 100

  public var found: [LoggedPush]
  /// Before which the search goes on; nil when it came to the end.
  public var next: Int64?

  package init(found: [LoggedPush], next: Int64? = nil) {
    self.found = found
    self.next = next
  }
}
