import CloudKitModel
import StoreModel

// Databases that are dispatched in parts: ``PartitionStore/partition(_:into:)``.
extension SQLRecordStore {
  public func partition(of database: DatabaseID) async throws -> Partition {
    try await attend { session in
      _ = try DatabaseTable(session: session).address(of: database)
      return try DispatchLeaseTable(session: session).partition(of: database)
    }
  }

  public func partition(_ database: DatabaseID, into parts: Int) async throws -> Partition {
    precondition(DatabasePart.counts.contains(parts), "parts are between 1 and 64")
    return try await attend { session in
      _ = try DatabaseTable(session: session).address(of: database)
      return try session.holding(database) {
        try DispatchLeaseTable(session: session).divideLater(database, into: parts)
      }
    }
  }

  public func dividedDatabases() async throws -> [PartLease] {
    try await attend { session in
      let leases = try DispatchLeaseTable(session: session).leasesOfParts()
      if leases.isEmpty { return [] }
      let present = Set(try ServerTable(session: session).servers().map(\.id.rawValue))
      return leases.map { lease in
        PartLease(
          part: lease.part,
          holder: present.contains(lease.holder) ? ServerID(rawValue: lease.holder) : nil,
          formerHolder: lease.holder)
      }
    }
  }

  public func release(_ part: DatabasePart, by server: ServerID) async throws {
    try await attend { session in
      try session.holding(part.database) {
        try DispatchLeaseTable(session: session).release(part, by: server)
      }
    }
  }
}
