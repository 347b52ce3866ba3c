import CloudKitModel
import StoreModel

extension AdministrationService {
  /// Searches a database's notification log, newest first.
  ///
  /// - Parameters:
  ///   - sequence: only older entries are searched; nil begins with the newest.
  ///   - isWanted: returns whether the result has an entry. One call examines at most
  ///     ``PushSearch/budget`` entries. The function must not block.
  public func pushes(
    in database: DatabaseID, before sequence: Int64?, limit: Int,
    where isWanted: @escaping @Sendable (LogEntry) -> Bool
  ) async throws -> PushSearch {
    try await transactions.read { transaction in
      let log = NotificationLogTable(transaction: transaction)
      let search = PiecewiseSearch(budget: PushSearch.budget, pieceSize: 200, limit: limit)
      let (found, next) = try search.walk(from: sequence ?? Int64.max) { place, count in
        try log.entries(of: database, before: place, limit: count)
      } place: {
        $0.sequence
      } wanted: {
        isWanted($0)
          ? try LoggedPush($0, deliveryLimit: PushSearch.deliveryLimit, in: transaction) : nil
      }
      return PushSearch(found: found, next: next)
    }
  }

  /// Returns the entries with these numbers. An entry that the store has deleted is absent.
  public func pushes(_ sequences: [Int64], in database: DatabaseID) async throws -> [LoggedPush] {
    try await transactions.read { transaction in
      let log = NotificationLogTable(transaction: transaction)
      return try sequences.compactMap { try log.entry($0, in: database) }
        .map { try LoggedPush($0, deliveryLimit: PushSearch.deliveryLimit, in: transaction) }
    }
  }
}

extension LoggedPush {
  /// The numbers of the deliveries are between those of this entry and of the next entry.
  init(_ entry: LogEntry, deliveryLimit: Int = .max, in transaction: StoreTransaction) throws {
    let log = NotificationLogTable(transaction: transaction)
    let next = try log.sequence(after: entry.sequence, in: entry.database)
    self.init(
      entry: entry,
      deliveries: try DeliveryTable(transaction: transaction).pastDeliveries(
        ofEntry: entry.sequence, before: next ?? .max, in: entry.database, limit: deliveryLimit),
      unsent: try log.unsentDeliveries(ofEntry: entry.sequence, in: entry.database))
  }
}

/// A notification of the log with the state of its delivery to each device.
public struct LoggedPush: Sendable, Hashable {
  /// The entry of the notification log to which the push belongs.
  public var entry: LogEntry
  /// The deliveries in the order of their numbers, except those that the store has deleted. A
  /// ``PushSearch`` has at most ``PushSearch/deliveryLimit`` of them.
  public var deliveries: [PastDelivery]
  /// Why some of the user's devices have no delivery.
  public var unsent: UnsentDeliveries
}

/// A page of a search through the notification log.
public struct PushSearch: Sendable, Hashable {
  /// The most entries that one call examines.
  public static let budget = 5_000
  /// The most deliveries of one entry in an answer.
  public static let deliveryLimit = 100

  /// The selected entries, newest first.
  public var found: [LoggedPush]
  /// The `sequence` of the next call; nil at the end of the log. It can be set although ``found``
  /// has fewer entries than the limit (``budget``).
  public var next: Int64?
}

/// The delivery of a notification to one device.
public struct PastDelivery: Sendable, Hashable {
  /// The delivery's database and number.
  public var id: Delivery.ID
  /// The kind of the device; nil if the store no longer has the delivery's ``DeliveryRoute``.
  public var kind: DeviceToken.Kind?
  /// The device's ``DeviceToken/token``.
  public var token: String
  /// The state of the delivery.
  public var state: DeliveryState
  /// The number of attempts to send the push.
  public var attempts: Int
  /// The result of the last attempt, or the reason why the delivery waits or was abandoned, if the
  /// store has one.
  public var reason: String?
  /// The time at which the delivery entered this state or was last postponed.
  public var updated: Timestamp
  /// The earliest time of the next attempt, or the end of the ``DeliveryLease``, while the
  /// delivery waits.
  public var due: Timestamp
  /// The delivery that replaced this one, if it was ``DeliveryState/merged`` and the number is known.
  public var mergedInto: Int64?
}

/// The state of a delivery. The store has the raw values in its tables, so they never change.
public enum DeliveryState: Int64, Sendable, Hashable, CaseIterable {
  case waiting = 0
  case delivered = 1
  /// The push is not sent, or not sent again: ``PastDelivery/reason`` says why.
  case abandoned = 2
  /// A newer delivery to the same device replaced this delivery: see ``PastDelivery/mergedInto``.
  case merged = 3
  /// The push service or the webhook refused the push for good, usually because of a fault in Petrel
  /// or in the webhook: see ``RefusedPush``.
  case refused = 4
}
