/// Deliveries that a process has leased from the store.
public struct TakenDeliveries: Sendable {
  /// The deliveries to send, oldest first.
  public var deliveries: [Delivery]
  /// Deliveries whose earlier lease had ended: its holder may still be sending them. The others had
  /// waited.
  public var renewed: Set<Delivery.ID>
  /// The number of deliveries that a newer one replaces.
  public var mergedCount: Int
  /// The number of deliveries abandoned because their device or log entry is gone.
  public var lostCount: Int
  /// Whether no more deliveries were due.
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
