/// A page of a search through subscriptions.
public struct SubscriptionSearch: Sendable, Hashable {
  /// Subscriptions that one call looks at.
  public static let budget = 5_000

  public var found: [StoredSubscription]
  /// Behind which the search goes on; nil when it came to the end.
  public var next: SubscriptionName?

  package init(found: [StoredSubscription], next: SubscriptionName? = nil) {
    self.found = found
    self.next = next
  }
}
