import CloudKitModel
import StoreModel

/// The writer's result for matched changes, as numbers. ``result(of:timestamp:)`` converts it for
/// callers, outside of the writer's thread.
struct DispatchOutcome: Sendable {
  /// A firing that was logged.
  struct Logged: Sendable {
    /// The index of the change, and that of the firing in the change.
    var change: Int
    var firing: Int
    var sequence: Int64
  }

  /// A delivery that was written.
  struct Owed: Sendable {
    /// The index of its entry in ``DispatchOutcome/logged``, and that of its device.
    var logged: Int
    var device: Int
    var number: Int64
    var badge: Int?
    var due: Timestamp
  }

  var addresses: [DatabaseID: DatabaseAddress] = [:]
  var logged: [Logged] = []
  var devices: [DeviceToken] = []
  /// The numbers of the devices' tokens.
  var deviceNumbers: [Int64] = []
  /// The route of each device.
  var routes: [DeliveryRoute.ID] = []
  var owed: [Owed] = []
  /// The number of written deliveries that were not leased.
  var waiting: [DeliveryRoute.ID: Int] = [:]
  var unsent = UnsentDeliveryCounts()
  var withheld: [WithheldNotification] = []

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
      logged: entries, deliveries: deliveries, waiting: waiting, unsent: unsent, withheld: withheld)
  }
}
