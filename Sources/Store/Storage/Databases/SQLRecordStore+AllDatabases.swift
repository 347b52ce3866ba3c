import CloudKitModel
import SQLEngine
import StoreModel

// The statements that look at more than one database. Everything else names its database; on a
// store that is distributed by database these ask every shard.
extension SQLRecordStore {
  public func undispatchedDatabases() async throws -> [DatabaseID] {
    if isDistributed {
      return try await read { transaction in
        let outbox = OutboxTable(transaction: transaction)
        return try outbox.databases().filter { try outbox.hasUndispatched(in: $0) }
      }
    }
    return try await read { try OutboxTable(transaction: $0).undispatchedDatabases() }
  }

  public func dueDeliveries(at timestamp: Timestamp, limit: Int) async throws -> [Delivery] {
    try await read { try DeliveryTable(transaction: $0).due(at: timestamp, limit: limit) }
  }

  public func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp? {
    try await read {
      try DeliveryTable(transaction: $0).nextTime(on: route, after: timestamp, for: holder)
    }
  }

  public func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute] {
    try await read { try PushRouteTable(transaction: $0).routes() }
  }

  public func refusedPushes(limit: Int) async throws -> [RefusedPush] {
    try await read { try RefusedPushTable(transaction: $0).newest(limit: limit) }
  }

  public func owedDeliveryCount() async throws -> Int {
    try await read { try DeliveryTable(transaction: $0).owedCount() }
  }
}
