import CloudKitModel
import StoreModel

/// The result of a transaction of ``DispatchCompletion``, as numbers. The lists refer to each other
/// by index, so a change with many firings costs the writing thread little memory and time.
struct DispatchOutcome: Sendable {
  /// A firing with an entry in the notification log.
  struct Logged: Sendable {
    /// An index in the array of ``DispatchCompletion/complete(_:)``.
    var change: Int
    var firing: Int
    var sequence: Int64
  }

  /// A delivery that was written; ``DispatchOutcome/waiting`` counts those that were not leased.
  struct Owed: Sendable {
    /// The index in ``DispatchOutcome/logged``.
    var logged: Int
    /// The index in ``DispatchOutcome/devices``.
    var device: Int
    var number: Int64
    var badge: Int?
    var due: Timestamp
  }

  var addresses: [DatabaseID: DatabaseAddress] = [:]
  var logged: [Logged] = []
  /// All notified subscribers' devices, without those that have no channel.
  var devices: [DeviceToken] = []
  /// In the order of ``devices``.
  var deviceNumbers: [Int64] = []
  /// In the order of ``devices``.
  var routes: [DeliveryRoute.ID] = []
  var owed: [Owed] = []
  var waiting: [DeliveryRoute.ID: Int] = [:]
  var unsent = UnsentDeliveryCounts()
  var withheld: [WithheldNotification] = []
  var deferred: [String] = []
  var grown: [(user: UserOfDatabase, by: LogGrowth.Amount)] = []

  /// Runs on the caller's task and not on the writing thread.
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
