import CloudKitModel
import StoreModel

/// The result of a transaction of ``DispatchCompletion``, as numbers.
///
/// ``result(of:timestamp:)`` converts it for the dispatcher, outside of the writing thread. The
/// lists of an outcome refer to each other by index. So a change with many firings (subscriptions
/// that it fires) costs the writing thread little memory and time.
struct DispatchOutcome: Sendable {
  /// A firing with an entry in the notification log, as numbers.
  struct Logged: Sendable {
    /// The index of the change in the array passed to ``DispatchCompletion/complete(_:)``.
    var change: Int
    /// The index of the firing in the change.
    var firing: Int
    /// The number of the log entry.
    var sequence: Int64
  }

  /// A delivery that was written. If the transaction had a capacity, only the leased deliveries are
  /// listed; ``DispatchOutcome/waiting`` counts the others.
  struct Owed: Sendable {
    /// The index of the delivery's log entry in ``DispatchOutcome/logged``.
    var logged: Int
    /// The index of the delivery's device in ``DispatchOutcome/devices``.
    var device: Int
    /// The delivery's number in its database.
    var number: Int64
    /// The device's badge after the notification; nil if the subscription asks for none.
    var badge: Int?
    /// The end of the lease; the time of the transaction for a delivery without a lease.
    var due: Timestamp
  }

  /// The addresses of the databases with dispatched changes.
  var addresses: [DatabaseID: DatabaseAddress] = [:]
  /// The logged firings, in the order of their changes and firings.
  var logged: [Logged] = []
  /// The devices of all subscribers who were notified, except those without a channel.
  var devices: [DeviceToken] = []
  /// The numbers of the devices' tokens, in the order of ``devices``.
  var deviceNumbers: [Int64] = []
  /// The delivery route of each device, in the order of ``devices``.
  var routes: [DeliveryRoute.ID] = []
  /// The deliveries for the caller: the leased ones, or all if the transaction had no capacity.
  var owed: [Owed] = []
  /// The number of written deliveries that were not leased, for each route. It is empty if the
  /// transaction had no capacity.
  var waiting: [DeliveryRoute.ID: Int] = [:]
  /// The number of deliveries that were not written, by reason.
  var unsent = UnsentDeliveryCounts()
  /// The firings that were not logged, because the subscriber may not read the changed record.
  var withheld: [WithheldNotification] = []
  /// The subscribers whose firings are deferred after the transaction.
  var deferred: [String] = []
  /// The entries that were written to each user's log.
  var grown: [(user: UserOfDatabase, by: LogGrowth.Amount)] = []

  /// Converts the numbers into log entries and deliveries, for the dispatcher. The caller's task
  /// runs this method, not the writing thread.
  ///
  /// - Parameters:
  ///   - changes: the changes that were passed to the transaction, in the same order.
  ///   - timestamp: the time that was passed to the transaction.
  func result(of changes: [PreparedChange], timestamp: Timestamp) -> DispatchResult {
    var entries: [LogEntry] = []
    entries.reserveCapacity(logged.count)
    for entry in logged {
      let change = changes[entry.change]
      // The writer looked up the address of each change with a log entry.
      guard let address = addresses[change.entry.database] else { continue }
      let firing = change.matched.firings[entry.firing]
      entries.append(
        LogEntry(
          database: change.entry.database, sequence: entry.sequence,
          notification: SubscriptionNotification(
            database: address, subscriber: firing.subscriber, subscription: firing.subscription,
            change: change.notifications.change(at: entry.firing),
            carriesLastValues: change.matched.carriesLastValues), logged: timestamp))
    }
    let deliveries = owed.map { owed in
      let entry = entries[owed.logged]
      return Delivery(
        id: Delivery.ID(database: entry.database, number: owed.number),
        route: routes[owed.device], notification: entry.notification, device: devices[owed.device],
        badge: owed.badge, logged: timestamp, due: owed.due)
    }
    return DispatchResult(
      logged: entries, deliveries: deliveries, waiting: waiting, unsent: unsent, withheld: withheld,
      deferred: deferred)
  }
}
