import Foundation

/// The result of one transaction of the dispatcher.
public struct DispatchResult: Sendable {
  /// The entries written to the notification log.
  public var logged: [LogEntry]
  /// The written deliveries; with a ``DeliveryCapacity``, only those that were leased to the
  /// caller.
  public var deliveries: [Delivery]
  /// The written deliveries on each route that were not leased; empty without a
  /// ``DeliveryCapacity``.
  public var waiting: [DeliveryRoute.ID: Int]
  /// The deliveries that were not written. Their notifications are in the log nevertheless.
  public var unsent: UnsentDeliveryCounts
  /// The notifications that were not logged, because the subscriber may not read the record.
  public var withheld: [WithheldNotification]
  /// The subscribers whose firings are deferred (``DeferredWork``), of the parts whose changes were
  /// passed.
  public var deferred: [String]

  /// Creates a result, by default that of a transaction that wrote nothing.
  public init(
    logged: [LogEntry] = [], deliveries: [Delivery] = [],
    waiting: [DeliveryRoute.ID: Int] = [:], unsent: UnsentDeliveryCounts = UnsentDeliveryCounts(),
    withheld: [WithheldNotification] = [], deferred: [String] = []
  ) {
    self.logged = logged
    self.deliveries = deliveries
    self.waiting = waiting
    self.unsent = unsent
    self.withheld = withheld
    self.deferred = deferred
  }
}

/// A notification that was not logged, because the subscriber may not read the changed record.
public struct WithheldNotification: Sendable, Hashable {
  /// The database of the change.
  public var database: DatabaseID
  /// The subscriber's user record name.
  public var subscriber: String
  /// The ID of the subscription that fired.
  public var subscriptionID: String
  /// The notification ID, which all notifications of the change share.
  public var notificationID: UUID
  /// The reason, for a person to read. It names the record, the record's type and the missing
  /// right.
  public var reason: String

  /// Creates a report of one notification.
  public init(
    database: DatabaseID, subscriber: String, subscriptionID: String, notificationID: UUID,
    reason: String
  ) {
    self.database = database
    self.subscriber = subscriber
    self.subscriptionID = subscriptionID
    self.notificationID = notificationID
    self.reason = reason
  }
}
