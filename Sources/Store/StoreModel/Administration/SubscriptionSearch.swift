/// A page of a search through subscriptions.
public struct SubscriptionSearch: Sendable, Hashable {
  /// The most subscriptions that one call examines.
  public static let budget = 5_000

  /// The subscriptions that the caller selected, in the order of subscribers and IDs.
  public var found: [StoredSubscription]
  /// The name after which the search continues; nil at the end. It can be set although fewer
  /// subscriptions than the limit were found, because a call examines at most ``budget`` of them.
  public var next: SubscriptionName?

  /// Creates a page, by default the last one.
  package init(found: [StoredSubscription], next: SubscriptionName? = nil) {
    self.found = found
    self.next = next
  }
}
