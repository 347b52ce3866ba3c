import CloudKitModel
import SQLEngine
import StoreModel

// The leases of databases, and the division of databases into parts. A lease is the right of one
// server to dispatch a database's changes. A database can be divided into parts, each with some of
// the subscribers and a lease of its own.
extension ClusterService {
  /// Returns the databases and parts that are leased to a server, in no order.
  func leasedParts(of server: ServerID) async throws -> [DatabasePart] {
    try await perform { try DispatchLeaseTable(transaction: $0).parts(of: server) }
  }

  /// Whether a server has the lease of a part. The result is false if the database is now divided
  /// into another number of parts.
  func isLeased(_ part: DatabasePart, to server: ServerID) async throws -> Bool {
    try await perform { try DispatchLeaseTable(transaction: $0).isLeased(part, to: server) }
  }

  /// Returns a page of the databases whose lease no registered server has, in the order of their
  /// numbers.
  func freeDatabases(
    after database: DatabaseID, limit: Int
  ) async throws -> [FreePart] {
    try await perform {
      try DispatchLeaseTable(transaction: $0).freeDatabases(after: database, limit: limit)
    }
  }

  /// Leases a free database or part to a server. Returns false if another server has the lease by
  /// now.
  func lease(_ part: FreePart, to server: ServerID) async throws -> Bool {
    try await perform { transaction in
      try transaction.holding(part.part.database) {
        try DispatchLeaseTable(transaction: transaction).lease(part, to: server)
      }
    }
  }

  /// Ends a server's lease of a whole database, unless the database has undispatched changes.
  ///
  /// The method locks the database's row. So no commit can add a change between the check and the
  /// end of the lease.
  ///
  /// - Returns: false if the database has undispatched changes; the lease then stays. True if the
  ///   lease has ended, or if the server had no lease of the whole database.
  func endLease(of database: DatabaseID, by server: ServerID) async throws -> Bool {
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

  /// Returns the server's parts in which other servers committed changes, and clears their
  /// wake-ups. A wake-up is a flag in the row of a lease.
  func wakeUps(of server: ServerID) async throws -> WakeUps {
    // The caller reads the outbox after this. If a commit is not visible to the caller, that commit
    // sets the wake-up again.
    try await perform { try DispatchLeaseTable(transaction: $0).takeWakeUps(of: server) }
  }

  // MARK: Divided databases

  /// Returns the number of parts of a database, and the future number if another division is
  /// pending.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such database.
  func partition(of database: DatabaseID) async throws -> Partition {
    try await perform { transaction in
      _ = try DatabaseTable(transaction: transaction).address(of: database)
      return try DispatchLeaseTable(transaction: transaction).partition(of: database)
    }
  }

  /// Divides a database into parts. The division happens at once if all changes are dispatched,
  /// otherwise after the present changes are dispatched; see
  /// ``DispatchLeaseTable/divideLater(_:into:)``.
  ///
  /// - Parameter parts: the number of parts, 1 to 64 (``DatabasePart/counts``); any other number
  ///   ends the process.
  /// - Returns: the present and the future number of parts.
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

  /// Returns the leases of the parts of all divided databases. If the holder is no longer
  /// registered, ``PartLease/holder`` is nil, and ``PartLease/formerHolder`` has its ID.
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

  /// Ends a server's lease of a part, so that another server can lease the part. The part gets a
  /// wake-up, so that its next holder reads the outbox.
  func release(_ part: DatabasePart, by server: ServerID) async throws {
    try await perform { transaction in
      try transaction.holding(part.database) {
        try DispatchLeaseTable(transaction: transaction).release(part, by: server)
      }
    }
  }
}

extension StoreTransaction {
  /// Runs `body` in a transaction of its own, while no server can commit changes of a database.
  ///
  /// The transaction locks the database's row, which every commit to the database locks too.
  func holding<Value>(_ database: DatabaseID, _ body: () throws -> Value) throws -> Value {
    try committing {
      try DatabaseTable(transaction: self).lock(database)
      return try body()
    }
  }
}
