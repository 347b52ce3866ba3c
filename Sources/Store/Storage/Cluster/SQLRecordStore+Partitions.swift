import CloudKitModel
import StoreModel

// Databases that are dispatched in parts: ``PartitionStore/partition(_:into:)``.
extension SQLRecordStore {
  public func partition(of database: DatabaseID) async throws -> Partition {
    try await attend { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try DispatchLeaseTable(transaction: transaction).partition(of: database)
    }
  }

  public func partition(_ database: DatabaseID, into parts: Int) async throws -> Partition {
    precondition(DatabasePart.counts.contains(parts), "parts are between 1 and 64")
    return try await attend { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try transaction.holding(database) {
        try DispatchLeaseTable(transaction: transaction).divideLater(database, into: parts)
      }
    }
  }

  public func dividedDatabases() async throws -> [PartLease] {
    try await attend { transaction in
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

  public func release(_ part: DatabasePart, by server: ServerID) async throws {
    try await attend { transaction in
      try transaction.holding(part.database) {
        try DispatchLeaseTable(transaction: transaction).release(part, by: server)
      }
    }
  }
}
