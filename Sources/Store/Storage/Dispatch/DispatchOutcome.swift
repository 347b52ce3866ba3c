import CloudKitModel
import StoreModel

/// The writer's result for matched changes, as numbers. ``result(of:timestamp:)`` converts it for
/// callers, outside of the writer's thread.
///
/// The lists of an outcome refer to each other by index. So a change with many firings costs the
/// writer's thread little memory and time.
struct DispatchOutcome: Sendable {
  /// A firing that was logged, as numbers.
  struct Logged: Sendable {
    /// The index of the change, and that of the firing in the change.
    var change: Int
    var firing: Int
    /// The number of the log entry.
    var sequence: Int64
  }

  /// A delivery that was written. With a limited capacity only leased deliveries are listed; the
  /// others count in ``DispatchOutcome/waiting``.
  struct Owed: Sendable {
    /// The index of its entry in ``DispatchOutcome/logged``, and that of its device.
    var logged: Int
    var device: Int
    /// The delivery's number in its database.
    var number: Int64
    /// The device's badge after the notification; nil if the subscription asks for none.
    var badge: Int?
    /// The end of the lease, or the time of the transaction without a lease.
    var due: Timestamp
  }

  /// The addresses of the databases with dispatched changes.
  var addresses: [DatabaseID: DatabaseAddress] = [:]
  /// The logged firings, in the order of their changes and firings.
  var logged: [Logged] = []
  /// The devices of all subscribers who were notified.
  var devices: [DeviceToken] = []
  /// The numbers of the devices' tokens.
  var deviceNumbers: [Int64] = []
  /// The route of each device.
  var routes: [DeliveryRoute.ID] = []
  /// The deliveries for the caller to send.
  var owed: [Owed] = []
  /// The number of written deliveries that were not leased.
  var waiting: [DeliveryRoute.ID: Int] = [:]
  /// The number of deliveries that were not written, by reason.
  var unsent = UnsentDeliveryCounts()
  /// The firings whose subscribers may not read the changed record.
  var withheld: [WithheldNotification] = []

  /// Converts the numbers into entries and deliveries, for the dispatcher. The method runs on the
  /// caller's side, not on the writer's thread.
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
      logged: entries, deliveries: deliveries, waiting: waiting, unsent: unsent, withheld: withheld)
  }
}
