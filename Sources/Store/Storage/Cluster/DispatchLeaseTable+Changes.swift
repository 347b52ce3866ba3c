import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Changes that other servers dispatch

extension DispatchLeaseTable {
  /// Determines for each database in ``StoreTransaction/outbox`` which servers dispatch the
  /// transaction's new changes.
  ///
  /// - If the database has no lease, this server gets the lease. A process that is not a registered
  ///   server adds a lease without a holder.
  /// - If the holder of the whole database is no longer registered, this server takes over the
  ///   lease.
  /// - If other servers have leases of the database, the method sets the wake-ups in their rows.
  ///
  /// After the call, the outbox has only the changes that this process dispatches. A change of a
  /// divided database has one element for each part of this server.
  ///
  /// The transaction has locked the databases' rows, or will find before the commit that their
  /// numbers have changed (``StoreTransaction/lockUnchanged()``). Every transaction that grants or
  /// ends a lease draws a number, so no lease changes its holder meanwhile. The writer calls the
  /// method before each commit. The method does nothing on a store for one server.
  func pointToChanges() throws {
    guard let identity = transaction.context.identity, !transaction.outbox.isEmpty else { return }
    var parts: [DatabaseID: [DatabasePart]] = [:]
    let server = identity.current
    let databases = Set(transaction.outbox.map(\.database)).sorted()
    var leases = transaction.reads.leases
    let unread = databases.filter { leases[$0] == nil }
    if transaction.context.isDistributed {
      for database in unread { leases[database] = try self.leases(of: database) }
    } else if !unread.isEmpty {
      try connection.query(Self.leases(of: unread)) {
        let lease = DispatchLease(row: $0)
        leases[lease.part.database, default: []].append(lease)
      }
    }
    var wakeUps = RowInsertion(sql.changes.wakeUp)
    for database in databases {
      let own = try leasedParts(
        of: database, with: leases[database] ?? [], from: server, adding: &wakeUps)
      if own != [.whole(database)] { parts[database] = own }
    }
    try wakeUps.finish(in: connection)
    if parts.isEmpty { return }
    transaction.outbox = transaction.outbox.flatMap { entry in
      guard let own = parts[entry.database] else { return [entry] }
      return own.map { part in
        var entry = entry
        entry.part = part
        return entry
      }
    }
  }

  /// Returns the parts of a database that this process dispatches. Wakes up the holders of the
  /// others.
  private func leasedParts(
    of database: DatabaseID, with leases: [DispatchLease], from server: ServerID?,
    adding wakeUps: inout RowInsertion
  ) throws -> [DatabasePart] {
    let id = SQLValue.id(database)
    guard let first = leases.first else {
      try connection.run(sql.changes.add, [id, .integer(server?.rawValue ?? 0)])
      return [.whole(database)]
    }
    // Another division is pending. The new parts will read this change from the outbox.
    if first.repartition != nil { return [] }
    guard first.part.isWhole else {
      try wakeUp(othersOf: leases, from: server, adding: &wakeUps)
      return leases.filter { $0.holder == server?.rawValue }.map(\.part)
    }
    // A process that is not a registered server passes its changes to its own commit handler, if it
    // has one.
    let others: [DatabasePart] = server == nil ? [first.part] : []
    if let server, first.holder == server.rawValue { return [first.part] }
    if let server, !first.hasPendingWakeUp,
      transaction.context.identity?.isPresent(first.holder) == false,
      try takeOver(database, for: server)
    {
      return [first.part]
    }
    try wakeUp(othersOf: leases, from: server, adding: &wakeUps)
    return others
  }

  /// Sets `wake_up` in the rows of other servers, also where it was set when the leases were read:
  /// the holder may have cleared it since. The row lock of the update keeps the wake-up until this
  /// transaction's changes are visible, because a server that clears wake-ups skips locked rows.
  private func wakeUp(
    othersOf leases: [DispatchLease], from server: ServerID?, adding wakeUps: inout RowInsertion
  ) throws {
    let others = leases.filter { $0.holder != server?.rawValue }
    guard let database = others.first?.part.database else { return }
    try wakeUps.add(in: connection) {
      $0.append(database.rawValue, server?.rawValue ?? 0)
    }
    transaction.serversToWake.formUnion(
      others.map { ServerID(rawValue: $0.holder) }.filter { $0.rawValue != 0 })
  }

  /// The dispatch of this transaction's changes also finds those that the former holder did not
  /// dispatch.
  private func takeOver(_ database: DatabaseID, for server: ServerID) throws -> Bool {
    try connection.run(sql.changes.takeOver, [.id(database), .integer(server.rawValue)]) == 1
  }

  // MARK: Wake-ups

  /// A wake-up whose row a commit has locked stays for the next call.
  func takeWakeUps(of server: ServerID) throws -> WakeUps {
    try transaction.context.isDistributed ? takeEach(of: server) : takeAll(of: server)
  }

  /// Runs one statement for each lease, because the leases may be on several nodes.
  private func takeEach(of server: ServerID) throws -> WakeUps {
    let holder = SQLValue.integer(server.rawValue)
    let pending = try connection.rows(sql.changes.pending, [holder], DatabasePart.init(row:))
    let taken = try pending.filter {
      try connection.run(
        sql.changes.take, [.integer($0.database.rawValue), .integer(Int64($0.number)), holder]) == 1
    }
    return WakeUps(taken, isWhole: taken.count == pending.count)
  }

  /// The changes of a commit that has locked a row are not visible yet. The statement's commit does
  /// not wait for the disk. If PostgreSQL then fails, the server may get the same wake-up twice.
  private func takeAll(of server: ServerID) throws -> WakeUps {
    var taken: [DatabasePart] = []
    var others: Set<DatabasePart> = []
    // The second `SELECT` sees the rows as they were before the `UPDATE`.
    try connection.query(sql.changes.takeAll, [.integer(server.rawValue)]) { row in
      let part = DatabasePart(row: row)
      if row.integer(3) == 1 { taken.append(part) } else { others.insert(part) }
    }
    return WakeUps(taken, isWhole: others.isSubset(of: taken))
  }

  struct ChangesStatements {
    let add: Statement =
      "INSERT INTO dispatch_leases (database_id, holder, wake_up) VALUES ($1, $2, 0)"
    let wakeUp = RowStatement(
      "UPDATE dispatch_leases SET wake_up = 1 WHERE database_id = $1 AND holder <> $2",
      [.integer, .integer]
    ) {
      """
      UPDATE dispatch_leases SET wake_up = 1 FROM \($0) WHERE database_id = c1 AND holder <> c2
      """
    }
    let takeOver: Statement = """
      UPDATE dispatch_leases SET holder = $2, wake_up = 0 WHERE database_id = $1
        AND NOT EXISTS (SELECT 1 FROM servers WHERE server_id = dispatch_leases.holder)
      """
    let pending = """
      SELECT \(DatabasePart.columns) FROM dispatch_leases WHERE holder = $1 AND wake_up = 1
      """.except(.everyDatabase)
    let take = """
      UPDATE dispatch_leases SET wake_up = 0 WHERE database_id = $1 AND part = $2 AND part IN (
        SELECT part FROM dispatch_leases
        WHERE database_id = $1 AND part = $2 AND holder = $3 AND wake_up = 1
        FOR NO KEY UPDATE SKIP LOCKED)
      """.except(.onPostgreSQL)
    let takeAll = """
      WITH taken AS (
        UPDATE dispatch_leases SET wake_up = 0 WHERE (database_id, part) IN (
          SELECT database_id, part FROM dispatch_leases WHERE holder = $1 AND wake_up = 1
          FOR NO KEY UPDATE SKIP LOCKED)
        RETURNING \(DatabasePart.columns), set_config('synchronous_commit', 'off', true))
      SELECT \(DatabasePart.columns), TRUE FROM taken
      UNION ALL
      SELECT \(DatabasePart.columns), FALSE FROM dispatch_leases WHERE holder = $1 AND wake_up = 1
      """.except([.onPostgreSQL, .undistributed])
  }
}
