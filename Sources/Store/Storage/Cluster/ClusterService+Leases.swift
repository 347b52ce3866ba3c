import CloudKitModel
import SQLEngine
import StoreModel

// The leases of databases, and the division of databases into parts.
extension ClusterService {
  func leasedParts(of server: ServerID) async throws -> [DatabasePart] {
    try await perform { try DispatchLeaseTable(transaction: $0).parts(of: server) }
  }

  func isLeased(_ part: DatabasePart, to server: ServerID) async throws -> Bool {
    try await perform { try DispatchLeaseTable(transaction: $0).isLeased(part, to: server) }
  }

  func freeDatabases(
    after database: DatabaseID, limit: Int
  ) async throws -> [FreePart] {
    try await perform {
      try DispatchLeaseTable(transaction: $0).freeDatabases(after: database, limit: limit)
    }
  }

  func lease(_ part: FreePart, to server: ServerID) async throws -> Bool {
    try await perform { transaction in
      try transaction.holding(part.part.database) {
        try DispatchLeaseTable(transaction: transaction).lease(part, to: server)
      }
    }
  }

  func endLease(of database: DatabaseID, by server: ServerID) async throws -> Bool {
    try await perform { transaction in
      let leases = DispatchLeaseTable(transaction: transaction)
      return try transaction.holding(database) {
        // Another server may have the lease by now, or the database may be divided.
        guard try leases.isLeased(.whole(database), to: server) else { return true }
        guard try !OutboxTable(transaction: transaction).hasUndispatched(in: database) else {
          return false
        }
        try leases.endLease(of: database, by: server)
        return true
      }
    }
  }

  func wakeUps(of server: ServerID) async throws -> WakeUps {
    // Taken before the outbox is read: a commit after this wakes the server again.
    try await perform { try DispatchLeaseTable(transaction: $0).takeWakeUps(of: server) }
  }

  // MARK: Divided databases

  func partition(of database: DatabaseID) async throws -> Partition {
    try await perform { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try DispatchLeaseTable(transaction: transaction).partition(of: database)
    }
  }

  func partition(_ database: DatabaseID, into parts: Int) async throws -> Partition {
    precondition(DatabasePart.counts.contains(parts), "parts are between 1 and 64")
    return try await perform { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try transaction.holding(database) {
        try DispatchLeaseTable(transaction: transaction).divideLater(database, into: parts)
      }
    }
  }

  func dividedDatabases() async throws -> [PartLease] {
    try await perform { transaction in
      let leases = try DispatchLeaseTable(transaction: transaction).leasesOfParts()
      if leases.isEmpty { return [] }
      let present = Set(try ServerTable(transaction: transaction).servers().map(\.id.rawValue))
      return leases.map { lease in
        PartLease(
          part: lease.part,
          holder: present.contains(lease.holder) ? ServerID(rawValue: lease.holder) : nil,
          formerHolder: lease.holder)
      }
    }
  }

  func release(_ part: DatabasePart, by server: ServerID) async throws {
    try await perform { transaction in
      try transaction.holding(part.database) {
        try DispatchLeaseTable(transaction: transaction).release(part, by: server)
      }
    }
  }
}

extension StoreTransaction {
  /// Calls `body` while no server commits changes of a database.
  func holding<Value>(_ database: DatabaseID, _ body: () throws -> Value) throws -> Value {
    try committing {
      try DatabaseTable(transaction: self).lock(database)
      return try body()
    }
  }
}
