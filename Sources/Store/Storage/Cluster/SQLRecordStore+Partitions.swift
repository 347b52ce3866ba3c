import CloudKitModel
import StoreModel

// Databases that are dispatched in parts: ``PartitionStore/partition(_:into:)``.
extension SQLRecordStore {
  public func partition(of database: DatabaseID) async throws -> Partition {
    try await attend { session in
      _ = try session.address(of: database)
      return try session.partition(of: database)
    }
  }

  public func partition(_ database: DatabaseID, into parts: Int) async throws -> Partition {
    precondition(DatabasePart.counts.contains(parts), "parts are between 1 and 64")
    return try await attend { session in
      _ = try session.address(of: database)
      return try session.holding(database) {
        try session.divideLater(database, into: parts)
      }
    }
  }

  public func dividedDatabases() async throws -> [PartLease] {
    try await attend { session in
      let leases = try session.connection.rows(
        """
        SELECT \(DispatchLease.columns) FROM dispatch_leases WHERE parts > 1
        ORDER BY database_id, part
        """, [], DispatchLease.init(row:))
      if leases.isEmpty { return [] }
      let present = Set(try session.servers().map(\.id.rawValue))
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
        try session.connection.run(
          """
          UPDATE dispatch_leases SET holder = 0, awaited = 1
          WHERE database_id = $1 AND part = $2 AND parts = $3 AND holder = $4
          """, part.key + [.integer(server.rawValue)])
      }
    }
  }
}
