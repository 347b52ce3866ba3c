/// The deliveries that a process has leased from the store, until the end of its ``DeliveryLease``.
public struct TakenDeliveries: Sendable {
  /// The deliveries to send. Those that are due longest come first.
  public var deliveries: [Delivery]
  /// The deliveries among ``deliveries`` that had a lease before. The lease ended without an
  /// outcome, so the process that had it may still be sending the push.
  public var renewed: Set<Delivery.ID>
  /// The number of due deliveries that were merged into newer ones.
  public var mergedCount: Int
  /// The number of deliveries that were abandoned because they cannot be sent: the device or the
  /// log entry was deleted, or the device now has another user or container.
  public var lostCount: Int
  /// Whether the call found all due deliveries. If false, more may be due.
  public var isAll: Bool

  /// Creates a result; without arguments, it says that no delivery was due.
  public init(
    deliveries: [Delivery] = [], renewed: Set<Delivery.ID> = [], mergedCount: Int = 0,
    lostCount: Int = 0, isAll: Bool = true
  ) {
    self.deliveries = deliveries
    self.renewed = renewed
    self.mergedCount = mergedCount
    self.lostCount = lostCount
    self.isAll = isAll
  }
}
