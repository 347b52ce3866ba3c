/// A page of a search through subscriptions.
public struct SubscriptionSearch: Sendable, Hashable {
  /// The most subscriptions that one call examines.
  public static let budget = 5_000

  public var found: [StoredSubscription]
  /// The name after which the search continues; nil at the end.
  public var next: SubscriptionName?

  package init(found: [StoredSubscription], next: SubscriptionName? = nil) {
    self.found = found
    self.next = next
  }
}
