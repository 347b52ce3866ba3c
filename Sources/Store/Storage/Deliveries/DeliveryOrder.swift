import CloudKitModel
import SQLEngine
import StoreModel

/// A change to a device's waiting deliveries, or to a courier reader's cursors, when the device's
/// registration changes.
///
/// The change applies to all databases in which the device's user has ever had subscriptions. The
/// transaction that changes the registration carries it out in all of them. In a distributed store
/// each database has a transaction of its own after that. Until then nothing is sent to a device
/// that no longer belongs to the notification's user, because taking a delivery checks both.
struct DeliveryOrder: Sendable {
  /// The change to make in each database.
  enum Action: Sendable {
    /// Abandons the waiting deliveries of the notification's user. The reason is stored for
    /// administrators.
    case abandon(reason: String, at: Timestamp)
    /// Moves the waiting deliveries to another route. A renewed registration may change the APNs
    /// environment, and so the route.
    case move(to: DeliveryRoute.ID)
    /// Moves a reader's cursor in a container to the end of the log: the reader gets later entries
    /// only.
    case startReading(Recipient)
    /// Deletes the reader's cursors.
    case forgetReading
  }

  /// The device's token, or the courier reader's.
  var token: String
  /// The present or former user of the device.
  var userRecordName: String
  /// The change.
  var action: Action
}

extension Transactions {
  /// Runs a write about devices, and carries out the orders that follow from it.
  ///
  /// In a distributed store, the orders run after the first transaction, and one may fail although
  /// the registration is changed. A delivery to a former user of a device is abandoned when it is
  /// claimed, in any case.
  ///
  /// - Parameters:
  ///   - locks: the locks of the first transaction.
  ///   - body: changes registrations, and appends the orders that follow.
  /// - Returns: the result of `body`.
  func writeDevices<Value: Sendable>(
    locking locks: WriteLocks = .reference,
    _ body: @escaping @Sendable (StoreTransaction, inout [DeliveryOrder]) throws -> Value
  ) async throws -> Value {
    let (value, orders) = try await write(locking: locks) { transaction in
      var orders: [DeliveryOrder] = []
      let value = try body(transaction, &orders)
      guard !transaction.context.isDistributed else { return (value, orders) }
      for order in orders {
        for database in try SubscriberDatabaseTable(transaction: transaction).databases(
          of: order.userRecordName)
        {
          try order.carryOut(in: database, transaction)
        }
      }
      return (value, [])
    }
    for order in orders {
      let databases = try await read {
        try SubscriberDatabaseTable(transaction: $0).databases(of: order.userRecordName)
      }
      for database in databases {
        try await write(locking: .deliveries) { try order.carryOut(in: database, $0) }
      }
    }
    return value
  }
}

extension DeliveryOrder {
  /// Carries out the order in one database.
  fileprivate func carryOut(in database: DatabaseID, _ transaction: StoreTransaction) throws {
    switch action {
    case .abandon(let reason, let timestamp):
      try DeliveryTable(transaction: transaction)
        .abandon(
          toDevice: token, of: userRecordName, in: database, reason: reason, at: timestamp)
    case .move(let route):
      try DeliveryTable(transaction: transaction).move(toDevice: token, in: database, to: route)
    case .startReading(let reader):
      try CourierCursorTable(transaction: transaction).startReading(reader, by: token, in: database)
    case .forgetReading:
      try CourierCursorTable(transaction: transaction).forget(token, in: database)
    }
  }
}
