import CloudKitModel
import SQLEngine
import StoreModel

// The leases of databases, and the division of databases into parts.
extension ClusterService {
  /// Returns the databases and parts that are leased to a server, in no order.
  func leasedParts(of server: ServerID) async throws -> [DatabasePart] {
    try await perform { try DispatchLeaseTable(transaction: $0).parts(of: server) }
  }

  /// Whether a server has the lease of a part, and the database is divided as the part says.
  func isLeased(_ part: DatabasePart, to server: ServerID) async throws -> Bool {
    try await perform { try DispatchLeaseTable(transaction: $0).isLeased(part, to: server) }
  }

  /// Returns a page of the databases whose lease has no registered holder, in the order of their
  /// numbers.
  func freeDatabases(
    after database: DatabaseID, limit: Int
  ) async throws -> [FreePart] {
    try await perform {
      try DispatchLeaseTable(transaction: $0).freeDatabases(after: database, limit: limit)
    }
  }

  /// Leases a free database or part to a server; false if another server was faster.
  func lease(_ part: FreePart, to server: ServerID) async throws -> Bool {
    try await perform { transaction in
      try transaction.holding(part.part.database) {
        try DispatchLeaseTable(transaction: transaction).lease(part, to: server)
      }
    }
  }

  /// Ends the lease of a whole database, unless it has undispatched changes.
  ///
  /// The database's row is locked meanwhile. So no commit can add a change between the check and
  /// the end of the lease.
  ///
  /// - Returns: false if changes wait; the lease stays then. True also if the server has no lease
  ///   of the whole database any more.
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

  /// Returns the parts with new changes of other servers, and clears their marks.
  func wakeUps(of server: ServerID) async throws -> WakeUps {
    // Taken before the outbox is read: a commit after this wakes the server again.
    try await perform { try DispatchLeaseTable(transaction: $0).takeWakeUps(of: server) }
  }

  // MARK: Divided databases

  /// Returns the number of parts of a database, and the pending number.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func partition(of database: DatabaseID) async throws -> Partition {
    try await perform { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try DispatchLeaseTable(transaction: transaction).partition(of: database)
    }
  }

  /// Divides a database, at once or after its present changes; see
  /// ``DispatchLeaseTable/divideLater(_:into:)``.
  ///
  /// - Parameter parts: one of ``DatabasePart/counts``, 1 to 64; any other number ends the process.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func partition(_ database: DatabaseID, into parts: Int) async throws -> Partition {
    precondition(DatabasePart.counts.contains(parts), "parts are between 1 and 64")
    return try await perform { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try transaction.holding(database) {
        try DispatchLeaseTable(transaction: transaction).divideLater(database, into: parts)
      }
    }
  }

  /// Returns the leases of the parts of all divided databases. A holder that is no longer
  /// registered is reported as ``PartLease/formerHolder`` alone.
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

  /// Ends a server's lease of a part, so that another server can take it. The part keeps a wake-up
  /// for its next holder.
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
  ///
  /// The lock is that of the database's row, which every commit to the database takes. `body` runs
  /// in a transaction of its own.
  func holding<Value>(_ database: DatabaseID, _ body: () throws -> Value) throws -> Value {
    try committing {
      try DatabaseTable(transaction: self).lock(database)
      return try body()
    }
  }
}
