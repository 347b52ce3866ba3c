import CloudKitModel
import SQLEngine
import StoreModel

/// What becomes of all that is owed to a device, or of what a reader has read, when the device's
/// registration changes.
///
/// It concerns all databases in which the device's user has ever had subscriptions. Where one transaction
/// can write to all of them it is carried out in the one that changes the registration. In a distributed
/// store each database has a transaction of its own after that: until then nothing goes to a device that
/// is not its notification's user's, for who takes a delivery looks at both.
struct DeliveryOrder: Sendable {
  enum Action: Sendable {
    /// Gives up what is owed.
    case abandon(reason: String, at: Timestamp)
    /// Sends it another way from now on.
    case move(to: DeliveryRoute.ID)
    /// Puts a reader of a container at the end of the log: it sees what comes from now on.
    case startReading(Recipient)
    /// Forgets how far a reader has read.
    case forgetReading
  }

  var token: String
  /// Whose device it is, or was.
  var userRecordName: String
  var action: Action
}

extension Transactions {
  /// Writes something about devices, and carries out what follows from it.
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
