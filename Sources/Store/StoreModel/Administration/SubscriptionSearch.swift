/// A page of a search through subscriptions.
public struct SubscriptionSearch: Sendable, Hashable {
  /// The most subscriptions that one call examines.
  public static let budget = 5_000

  /// The subscriptions that the caller selected, in the order of subscribers and IDs.
  public var found: [StoredSubscription]
  /// The name to pass as `last` to the next call, which continues the search; nil at the end. The
  /// value can be set although ``found`` has fewer subscriptions than the limit, because a call
  /// examines at most ``budget`` subscriptions.
  public var next: SubscriptionName?

  /// Creates a page, by default the last one.
  package init(found: [StoredSubscription], next: SubscriptionName? = nil) {
    self.found = found
    self.next = next
  }
}
