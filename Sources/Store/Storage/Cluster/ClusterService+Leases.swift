import CloudKitModel
import SQLEngine
import StoreModel

// The leases of databases, and the division of databases into parts.
extension ClusterService {
  /// The result has no order.
  public func leasedParts(of server: ServerID) async throws -> [DatabasePart] {
    try await perform { try DispatchLeaseTable(transaction: $0).parts(of: server) }
  }

  /// The result is false if the database is now divided into another number of parts.
  public func isLeased(_ part: DatabasePart, to server: ServerID) async throws -> Bool {
    try await perform { try DispatchLeaseTable(transaction: $0).isLeased(part, to: server) }
  }

  /// Returns databases after `database` that may have changes to dispatch, and whose lease no
  /// registered server has, in the order of their numbers. Divided databases are left out:
  /// ``ClusterService/dividedDatabases()`` returns their parts.
  public func freeDatabases(
    after database: DatabaseID, limit: Int
  ) async throws -> [FreePart] {
    try await perform {
      try DispatchLeaseTable(transaction: $0).freeDatabases(after: database, limit: limit)
    }
  }

  /// Leases a database, or a part of a database, to a server. Returns false if another server has
  /// the lease by now.
  public func lease(_ part: FreePart, to server: ServerID) async throws -> Bool {
    try await perform { transaction in
      try transaction.holding(part.part.database) {
        try DispatchLeaseTable(transaction: transaction).lease(part, to: server)
      }
    }
  }

  /// Ends a server's lease of a whole database if all its changes are dispatched. Returns false if
  /// some changes wait, and true if the server has no such lease. The method locks the database's
  /// row, so no commit can add a change between the check and the end of the lease.
  public func endLease(of database: DatabaseID, by server: ServerID) async throws -> Bool {
    try await perform { transaction in
      let leases = DispatchLeaseTable(transaction: transaction)
      return try transaction.holding(database) {
        // Another server may have the lease by now, or the database may be divided into parts.
        guard try leases.isLeased(.whole(database), to: server) else { return true }
        guard try !OutboxTable(transaction: transaction).hasWork(in: database) else {
          return false
        }
        try leases.endLease(of: database, by: server)
        return true
      }
    }
  }

  /// Returns and clears a server's wake-ups: the parts in which other processes have committed
  /// changes.
  public func wakeUps(of server: ServerID) async throws -> WakeUps {
    // The caller reads the outbox after this. If a commit is not visible to the caller, that commit
    // sets the wake-up again.
    try await perform { try DispatchLeaseTable(transaction: $0).takeWakeUps(of: server) }
  }

  // MARK: Divided databases

  /// Returns the present division of a database. Throws ``StoreError/Code/notFound`` if there is no
  /// such database.
  public func partition(of database: DatabaseID) async throws -> Partition {
    try await perform { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try DispatchLeaseTable(transaction: transaction).partition(of: database)
    }
  }

  /// Divides a database into `parts` parts; 1 makes the database whole again. If changes wait in
  /// the outbox, the present parts dispatch them first: the division is pending.
  ///
  /// - Parameter parts: one of ``DatabasePart/counts``; any other number ends the process.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  @discardableResult
  public func partition(_ database: DatabaseID, into parts: Int) async throws -> Partition {
    precondition(DatabasePart.counts.contains(parts), "parts are between 1 and 64")
    return try await perform { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try transaction.holding(database) {
        try DispatchLeaseTable(transaction: transaction).divideLater(database, into: parts)
      }
    }
  }

  /// Returns the leases of the parts of all divided databases, in the order of databases and parts.
  public func dividedDatabases() async throws -> [PartLease] {
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

  /// Ends a server's lease of a part, so that another server can lease the part.
  public func release(_ part: DatabasePart, by server: ServerID) async throws {
    try await perform { transaction in
      try transaction.holding(part.database) {
        try DispatchLeaseTable(transaction: transaction).release(part, by: server)
      }
    }
  }
}

extension StoreTransaction {
  /// Every commit to the database locks the row too, so no server can commit changes meanwhile. A
  /// commit that has read the leases before finds the number changed, and reads them again.
  func holding<Value>(_ database: DatabaseID, _ body: () throws -> Value) throws -> Value {
    try committing {
      try DatabaseTable(transaction: self).lockAndDraw(database)
      return try body()
    }
  }
}
