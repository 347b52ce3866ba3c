/// The result of one transaction of the dispatcher.
public struct DispatchResult: Sendable {
  /// The entries written to the notification log.
  public var logged: [LogEntry]
  /// The written deliveries; with a capacity, only those leased to the caller.
  public var deliveries: [Delivery]
  /// With a capacity, the number of other written deliveries for each route.
  public var waiting: [DeliveryRoute.ID: Int]
  /// Deliveries that were not written; their notifications are in the log.
  public var unsent: UnsentDeliveryCounts
  /// Notifications withheld because the subscriber may not read the record.
  public var withheld: [WithheldNotification]

  /// Creates a result; without arguments, that of a transaction without effects.
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
