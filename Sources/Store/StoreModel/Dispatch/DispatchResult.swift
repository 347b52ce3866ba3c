/// What one transaction of the dispatcher brought about.
public struct DispatchResult: Sendable {
  /// The entries written to the notification log.
  public var logged: [LogEntry]
  /// The deliveries that are now owed; where some were leased, those.
  public var deliveries: [Delivery]
  /// How many more are owed on which route, where some were leased.
  public var waiting: [DeliveryRoute.ID: Int]
  /// Deliveries that were not written; their notifications are in the log.
  public var unsent: UnsentDeliveryCounts
  /// What subscribers did not get because they may not read the record.
  public var withheld: [WithheldNotification]

  public init(
    logged: [LogEntry] = [], deliveries: [Delivery] = [],
    waiting: [DeliveryRoute.ID: Int] = [:], unsent: UnsentDeliveryCounts = UnsentDeliveryCounts(),
    withheld: [WithheldNotification] = []
  ) {
    self.logged = logged
    self.deliveries = deliveries
    self.waiting = waiting
    self.unsent = unsent
    self.withheld = withheld
  }
}
