import CloudKitModel
import SQLEngine
import StoreModel

/// A change that follows when a device's registration changes. It concerns the device's waiting
/// deliveries, or the cursors of a web courier reader.
///
/// A web courier reader is a client that polls the server for notifications. Its cursor in a
/// database is its position in the notification log.
///
/// An order is carried out in all databases in which the device's user has ever had subscriptions.
/// This happens in the transaction that changes the registration. A distributed store runs a
/// further transaction for each database instead. Until that transaction has run, a former user's
/// notifications are still not sent to the device, because a claim compares the device's user with
/// the notification's user.
struct DeliveryOrder: Sendable {
  /// The change to make in each database.
  enum Action: Sendable {
    /// Abandons the waiting deliveries whose notifications belong to the order's user. Abandoned
    /// deliveries are never sent. Administrators can read the stored reason.
    case abandon(reason: String, at: Timestamp)
    /// Moves the device's waiting deliveries to another route (``PushRouteTable``). A renewed
    /// registration may change the APNs environment, and so the route.
    case move(to: DeliveryRoute.ID)
    /// Moves the reader's cursors in the recipient's container to the end of the log. The reader
    /// then gets later entries only.
    case startReading(Recipient)
    /// Deletes the reader's cursors.
    case forgetReading
  }

  /// The registration that changes.
  var device: DeviceName
  /// The record name of the user whose databases the order concerns: the present or the former user
  /// of the device.
  var userRecordName: String
  /// The change to make.
  var action: Action
}

extension Transactions {
  /// Runs a write that changes registrations of devices, and carries out the orders that follow.
  ///
  /// In a distributed store, the orders are carried out after the first transaction. An order may
  /// then fail although the registration is changed. Such a failure does no harm: the next claim of
  /// a delivery of a former user abandons the delivery.
  ///
  /// - Parameters:
  ///   - locks: the locks of the first transaction.
  ///   - body: changes registrations, and appends the orders that follow. The closure may run
  ///     several times.
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
          toDevice: device, of: userRecordName, in: database, reason: reason, at: timestamp)
    case .move(let route):
      try DeliveryTable(transaction: transaction).move(toDevice: device, in: database, to: route)
    case .startReading(let reader):
      try CourierCursorTable(transaction: transaction).startReading(
        reader, by: device.token, in: database)
    case .forgetReading:
      try CourierCursorTable(transaction: transaction).forget(device, in: database)
    }
  }
}
