import CloudKitModel
import StoreModel

/// The result of a transaction of ``DispatchCompletion``, as numbers. The lists refer to each other
/// by index, so a change with many firings costs the writing thread little memory and time.
struct DispatchOutcome: Sendable {
  /// A firing with an entry in the notification log.
  struct Logged: Sendable {
    /// The index of the change in the array passed to ``DispatchCompletion/complete(_:)``.
    var change: Int
    var firing: Int
    var sequence: Int64
  }

  /// A delivery that was written. With a capacity, only the leased ones are listed;
  /// ``DispatchOutcome/waiting`` counts the others.
  struct Owed: Sendable {
    /// The index in ``DispatchOutcome/logged``.
    var logged: Int
    /// The index in ``DispatchOutcome/devices``.
    var device: Int
    var number: Int64
    /// Nil if the subscription asks for none.
    var badge: Int?
    /// The end of the lease, or the time of the transaction.
    var due: Timestamp
  }

  /// The addresses of the databases with dispatched changes.
  var addresses: [DatabaseID: DatabaseAddress] = [:]
  /// The logged firings, in the order of their changes and firings.
  var logged: [Logged] = []
  /// The devices of all subscribers who were notified, except those without a channel.
  var devices: [DeviceToken] = []
  /// In the order of ``devices``.
  var deviceNumbers: [Int64] = []
  /// In the order of ``devices``.
  var routes: [DeliveryRoute.ID] = []
  /// The deliveries for the caller: the leased ones, or all if the transaction had no capacity.
  var owed: [Owed] = []
  /// The written deliveries that were not leased; empty if the transaction had no capacity.
  var waiting: [DeliveryRoute.ID: Int] = [:]
  /// The number of deliveries that were not written, by reason.
  var unsent = UnsentDeliveryCounts()
  /// The firings that were not logged, because the subscriber may not read the record.
  var withheld: [WithheldNotification] = []
  /// The subscribers whose firings are deferred after the transaction.
  var deferred: [String] = []
  var grown: [(user: UserOfDatabase, by: LogGrowth.Amount)] = []

  /// Converts the numbers for the dispatcher, on the caller's task and not on the writing thread.
  /// The changes and the time are those of the transaction.
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
