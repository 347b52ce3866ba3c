import CloudKitModel
import StoreModel

/// A change of waiting deliveries, or of a web courier reader's cursors, that follows when a
/// device's registration changes.
///
/// An order is carried out in all databases in which the device's user has ever had subscriptions,
/// in the transaction that changes the registration. A distributed store runs a further transaction
/// for each database instead. Until then, a former user's notifications are still not sent to the
/// device, because a claim compares the device's user with the notification's user.
struct DeliveryOrder: Sendable {
  /// The change to make in each database.
  enum Action: Sendable {
    /// Abandons the waiting deliveries whose notifications belong to the order's user: they are
    /// never sent. Administrators can read the reason.
    case abandon(reason: String, at: Timestamp)
    /// Moves the device's waiting deliveries to another route (``PushRouteTable``), because a
    /// renewed registration may change the APNs environment.
    case move(to: DeliveryRoute.ID)
    /// Moves the reader's cursors in the recipient's container to the end of the log.
    case startReading(Recipient)
    case forgetReading
  }

  var device: DeviceName
  var userRecordName: String
  var action: Action
}

extension Transactions {
  /// Runs a write that changes registrations of devices, and carries out the orders that follow.
  ///
  /// In a distributed store, the orders follow the first transaction, and may fail although the
  /// registration is changed. Such a failure does no harm: the next claim of a delivery of a former
  /// user abandons the delivery.
  ///
  /// - Parameter body: changes registrations, and appends the orders. The closure may run several
  ///   times.
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
