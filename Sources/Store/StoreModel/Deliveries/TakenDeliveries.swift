/// Deliveries that a process took from the store.
public struct TakenDeliveries: Sendable {
  public var deliveries: [Delivery]
  /// Those of them whose lease had ended: who had it may be sending them still. The others waited.
  public var renewed: Set<Delivery.ID>
  /// Those in whose place a newer one goes.
  public var mergedCount: Int
  /// Those whose device or log entry is gone; they are given up.
  public var lostCount: Int
  /// Whether no more were due.
  public var isAll: Bool

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
