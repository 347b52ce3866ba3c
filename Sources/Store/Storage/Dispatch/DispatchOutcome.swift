import CloudKitModel
import StoreModel

/// What the writer's transaction made of matched changes, in numbers; ``result(of:timestamp:)`` makes
/// of it, outside of the writer's thread, what others look at.
struct DispatchOutcome: Sendable {
  /// A firing that was logged.
  struct Logged: Sendable {
    /// Its places among the changes and among the firings of that change.
    var change: Int
    var firing: Int
    var sequence: Int64
  }

  /// A delivery that is owed.
  struct Owed: Sendable {
    /// The places of its entry in ``DispatchOutcome/logged`` and of its device.
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
  /// The way to each of the devices.
  var routes: [DeliveryRoute.ID] = []
  var owed: [Owed] = []
  /// Deliveries that wait in the store for room.
  var waiting: [DeliveryRoute.ID: Int] = [:]
  var unsent = UnsentDeliveryCounts()
  var withheld: [WithheldNotification] = []

  func result(of changes: [PreparedChange], timestamp: Timestamp) -> DispatchResult {
    var entries: [LogEntry] = []
    entries.reserveCapacity(logged.count)
    for entry in logged {
      let change = changes[entry.change]
      // The writer asked for the address of each change that it logged something of.
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
