import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Changes that other servers dispatch

extension DispatchLeaseTable {
  /// Assigns new changes to servers: leases their databases to this server, or wakes up the servers
  /// that hold the leases. Changes that others dispatch are removed from
  /// ``StoreTransaction/outbox``. Changes of a divided database stay there for the parts of this
  /// server.
  ///
  /// The transaction has locked the databases' rows, as every transaction that grants a lease does,
  /// so no lease changes its holder meanwhile.
  ///
  /// The writer calls it before each commit. The method does nothing on a store for one server.
  /// Most transactions concern a database that this server has leased: they read its lease and
  /// write nothing.
  func pointToChanges() throws {
    guard let identity = transaction.context.identity, !transaction.outbox.isEmpty else { return }
    var parts: [DatabaseID: [DatabasePart]] = [:]
    let server = identity.current
    for database in Set(transaction.outbox.map(\.database)).sorted() {
      let own = try leasedParts(of: database, wakingUpFrom: server)
      if own != [.whole(database)] { parts[database] = own }
    }
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

  /// The parts of a database whose changes this process dispatches. The holders of the other parts
  /// are woken up.
  ///
  /// - Parameters:
  ///   - database: the database, which has new changes in this transaction.
  ///   - server: this server's ID; nil for a process that is not registered.
  /// - Returns: the whole database, or some parts of a divided one; none if other processes
  ///   dispatch its changes.
  private func leasedParts(
    of database: DatabaseID, wakingUpFrom server: ServerID?
  ) throws -> [DatabasePart] {
    let id = SQLValue.integer(database.rawValue)
    let leases = try leases(of: database)
    guard let first = leases.first else {
      try connection.run(
        "INSERT INTO dispatch_leases (database_id, holder, wake_up) VALUES ($1, $2, 0)",
        [id, .integer(server?.rawValue ?? 0)])
      return [.whole(database)]
    }
    // A division is pending: the parts that follow read the change from the outbox.
    if first.repartition != nil { return [] }
    guard first.part.isWhole else {
      try wakeUp(othersOf: leases, from: server)
      return leases.filter { $0.holder == server?.rawValue }.map(\.part)
    }
    // A process that is not a registered server keeps its changes for its own commit handler, if it
    // has one.
    let others: [DatabasePart] = server == nil ? [first.part] : []
    if let server, first.holder == server.rawValue { return [first.part] }
    if let server, !first.hasPendingWakeUp,
      transaction.context.identity?.isPresent(first.holder) == false,
      try takeOver(database, for: server)
    {
      return [first.part]
    }
    try wakeUp(othersOf: leases, from: server)
    return others
  }

  /// Wakes up the other holders of a database's parts that have no pending wake-up.
  ///
  /// - Parameter leases: all leases of the database, as read by this transaction.
  private func wakeUp(othersOf leases: [DispatchLease], from server: ServerID?) throws {
    let others = leases.filter { $0.holder != server?.rawValue }
    guard let database = others.first?.part.database else { return }
    let key = [SQLValue.integer(database.rawValue), .integer(server?.rawValue ?? 0)]
    var kept: Set<Int> = []
    if others.contains(where: \.hasPendingWakeUp) {
      // The row lock keeps the pending wake-up until this transaction's changes are visible: a
      // server that takes wake-ups skips locked rows.
      try connection.query(
        """
        SELECT part FROM dispatch_leases WHERE database_id = $1 AND holder <> $2 AND wake_up = 1
        ORDER BY part FOR SHARE
        """, key
      ) { kept.insert(Int($0.integer(0))) }
    }
    let unaware = others.filter { !kept.contains($0.part.number) }
    if unaware.isEmpty { return }
    try connection.run(
      "UPDATE dispatch_leases SET wake_up = 1 WHERE database_id = $1 AND holder <> $2 AND wake_up = 0",
      key)
    transaction.serversToWake.formUnion(
      unaware.map { ServerID(rawValue: $0.holder) }.filter { $0.rawValue != 0 })
  }

  /// Leases a database to a server if its holder is gone; false if the holder is registered. The
  /// dispatch of this transaction's changes then finds what the holder left undone.
  private func takeOver(_ database: DatabaseID, for server: ServerID) throws -> Bool {
    try connection.run(
      """
      UPDATE dispatch_leases SET holder = $2, wake_up = 0 WHERE database_id = $1
        AND NOT EXISTS (SELECT 1 FROM servers WHERE server_id = dispatch_leases.holder)
      """, [.integer(database.rawValue), .integer(server.rawValue)]) == 1
  }

  // MARK: Wake-ups

  /// Takes a server's wake-ups and clears them.
  ///
  /// - Returns: the parts with wake-ups, and whether the list is complete: a wake-up that a commit
  ///   has locked stays for the next call.
  func takeWakeUps(of server: ServerID) throws -> WakeUps {
    try transaction.context.isDistributed ? takeEach(of: server) : takeAll(of: server)
  }

  /// Takes wake-ups as ``takeAll(of:)`` does, with a statement for each lease, since the leases may
  /// be on several nodes.
  private func takeEach(of server: ServerID) throws -> WakeUps {
    let holder = SQLValue.integer(server.rawValue)
    let pending = try connection.rows(
      "SELECT \(DatabasePart.columns) FROM dispatch_leases WHERE holder = $1 AND wake_up = 1",
      [holder], DatabasePart.init(row:))
    let taken = try pending.filter {
      try connection.run(
        """
        UPDATE dispatch_leases SET wake_up = 0 WHERE database_id = $1 AND part = $2 AND part IN (
          SELECT part FROM dispatch_leases
          WHERE database_id = $1 AND part = $2 AND holder = $3 AND wake_up = 1
          FOR NO KEY UPDATE SKIP LOCKED)
        """, [.integer($0.database.rawValue), .integer(Int64($0.number)), holder]) == 1
    }
    return WakeUps(taken, isWhole: taken.count == pending.count)
  }

  /// Takes all wake-ups except those that a commit has locked, whose changes are not visible yet.
  ///
  /// The statement does not wait for durability: if PostgreSQL loses power, a server is woken up
  /// twice.
  private func takeAll(of server: ServerID) throws -> WakeUps {
    var taken: [DatabasePart] = []
    var others: Set<DatabasePart> = []
    // The part of the statement beside the update sees the state before it.
    try connection.query(
      """
      WITH taken AS (
        UPDATE dispatch_leases SET wake_up = 0 WHERE (database_id, part) IN (
          SELECT database_id, part FROM dispatch_leases WHERE holder = $1 AND wake_up = 1
          FOR NO KEY UPDATE SKIP LOCKED)
        RETURNING \(DatabasePart.columns), set_config('synchronous_commit', 'off', true))
      SELECT \(DatabasePart.columns), TRUE FROM taken
      UNION ALL
      SELECT \(DatabasePart.columns), FALSE FROM dispatch_leases WHERE holder = $1 AND wake_up = 1
      """, [.integer(server.rawValue)]
    ) { row in
      let part = DatabasePart(row: row)
      if row.integer(3) == 1 { taken.append(part) } else { others.insert(part) }
    }
    return WakeUps(taken, isWhole: others.isSubset(of: taken))
  }
}
