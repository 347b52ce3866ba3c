import CloudKitModel
import SQLEngine
import StoreModel

/// The leases of databases. A lease is free if its holder is not in ``ServerTable``. On an engine
/// for one server the table is empty.
///
/// A database has a row if it has changes to dispatch, or had some a moment ago. `wake_up` is 1 (a
/// pending wake-up) if another process has committed changes that the holder must read.
///
/// A database with one row or none is whole. A database with `parts` parts has a row for each part,
/// with or without changes, and ``PartDispatchTable`` has the position of each part. A change is
/// recorded in `dispatches` when all parts have dispatched it.
///
/// Another division may be pending until the present changes are dispatched. `last_change` is then
/// the last change that the present parts dispatch, and `next_parts` is the future number of parts.
struct DispatchLeaseTable: Table {
  let transaction: StoreTransaction

  /// `part` counts from 0. `holder` is a server's ID, or 0 for none. `last_change` and `next_parts`
  /// are null unless a division is pending.
  static let definition = [
    """
    CREATE TABLE dispatch_leases (
      database_id BIGINT NOT NULL, part BIGINT NOT NULL DEFAULT 0,
      parts BIGINT NOT NULL DEFAULT 1, holder BIGINT NOT NULL, wake_up BIGINT NOT NULL,
      last_change BIGINT, next_parts BIGINT, PRIMARY KEY (database_id, part))
    """,
    "CREATE INDEX dispatch_leases_by_holder ON dispatch_leases (holder, wake_up)",
    "CREATE INDEX dispatch_leases_of_parts ON dispatch_leases (database_id) WHERE parts > 1",
  ]

  // MARK: Reading

  /// One for each part, at most 64; empty if the database has no changes to dispatch.
  func leases(of database: DatabaseID) throws -> [DispatchLease] {
    try connection.rows(sql.leases, [.id(database)], DispatchLease.init(row:))
  }

  static func leases(of databases: some Sequence<DatabaseID>) -> RowQuery {
    var query = sql.leasesOfSome
    for database in databases { query.rows.append(database.rawValue) }
    return query
  }

  /// Returns nil for a whole database without a row.
  ///
  /// - Throws: ``StoreError/Code/leaseLost`` if the database is now divided into another number of
  ///   parts.
  private func lease(of part: DatabasePart) throws -> DispatchLease? {
    let lease =
      try transaction.reads.leases[part.database]?.first { $0.part.number == part.number }
      ?? connection.first(
        sql.lease, [.id(part.database), .count(part.number)],
        DispatchLease.init(row:))
    let count = lease?.part.count ?? 1
    guard count == part.count else {
      throw StoreError(
        .leaseLost,
        "part \(part.number) of \(part.count) of database \(part.database.rawValue) no longer "
          + "exists: the database is now dispatched in \(count) parts")
    }
    return lease
  }

  /// Checks that this process may dispatch a part, and returns the pending division.
  ///
  /// Each transaction of the dispatcher first calls the method, with the database's lock. A process
  /// that is not a registered server may dispatch any database.
  ///
  /// - Throws: ``StoreError/Code/leaseLost`` if this process is a registered server without the
  ///   lease of the part, or if the database is now divided into another number of parts.
  func checkLease(of part: DatabasePart) throws -> Repartition? {
    guard let identity = transaction.context.identity else { return nil }
    let lease = try lease(of: part)
    guard identity.current == nil || lease?.holder == identity.current?.rawValue else {
      throw StoreError(
        .leaseLost,
        "this server has no lease to dispatch the changes of database \(part.database.rawValue)")
    }
    return lease?.repartition
  }

  /// Returns nil also if the database no longer has this part.
  func repartition(of part: DatabasePart) throws -> Repartition? {
    guard transaction.context.identity != nil else { return nil }
    return try leases(of: part.database).first { $0.part == part }?.repartition
  }

  func isLeased(_ part: DatabasePart, to server: ServerID) throws -> Bool {
    try connection.exists(sql.isLeased, part.key + [.integer(server.rawValue)])
  }

  func parts(of server: ServerID) throws -> [DatabasePart] {
    try connection.rows(sql.ofServer, [.integer(server.rawValue)], DatabasePart.init(row:))
  }

  func leasesOfParts() throws -> [DispatchLease] {
    try connection.rows(sql.ofParts, [], DispatchLease.init(row:))
  }

  /// Returns the counts for each holder. The holder 0 stands for leases without a holder.
  func counts() throws -> [Int64: (leased: Int, wakeUps: Int)] {
    var leases: [Int64: (leased: Int, wakeUps: Int)] = [:]
    try connection.query(
      sql.counts, []
    ) { leases[$0.integer(0)] = (Int($0.integer(1)), Int($0.integer(2))) }
    return leases
  }

  /// Undivided databases whose lease no registered server has, in the order of their numbers.
  func freeDatabases(after database: DatabaseID, limit: Int) throws -> [FreePart] {
    try connection.rows(sql.free, [.id(database), .count(max(0, limit))]) {
      FreePart(part: .whole($0.database(0)), formerHolder: $0.integer(1))
    }
  }

  // MARK: Writing

  /// Returns false if another server has the lease by now. The caller has locked the database's
  /// row. The part's wake-up is cleared, because the new holder reads the outbox anyway.
  func lease(_ part: FreePart, to server: ServerID) throws -> Bool {
    let count = try connection.run(
      sql.take, part.part.key + [.integer(server.rawValue), .integer(part.formerHolder)])
    if count == 1 { return true }
    // An earlier attempt may have succeeded, although the connection was lost before the answer.
    return try isLeased(part.part, to: server)
  }

  /// The caller has checked that the database has no changes to dispatch.
  func endLease(of database: DatabaseID, by server: ServerID) throws {
    try connection.run(sql.end, [.id(database), .integer(server.rawValue)])
  }

  /// The part gets a pending wake-up, so that its next holder reads the outbox.
  func release(_ part: DatabasePart, by server: ServerID) throws {
    try connection.run(sql.release, part.key + [.integer(server.rawValue)])
  }

  struct Statements {
    let changes = ChangesStatements()
    let partition = PartitionStatements()
    let leases: Statement =
      "SELECT \(DispatchLease.columns) FROM dispatch_leases WHERE database_id = $1 ORDER BY part"
    let leasesOfSome = RowQuery([.integer]) { _ in
      """
      SELECT \(DispatchLease.columns) FROM dispatch_leases WHERE database_id = ANY($1::bigint[])
      ORDER BY database_id, part
      """
    }
    let lease: Statement =
      "SELECT \(DispatchLease.columns) FROM dispatch_leases WHERE database_id = $1 AND part = $2"
    let isLeased: Statement = """
      SELECT 1 FROM dispatch_leases
      WHERE database_id = $1 AND part = $2 AND parts = $3 AND holder = $4
      """
    let ofServer = "SELECT \(DatabasePart.columns) FROM dispatch_leases WHERE holder = $1".except(
      .everyDatabase)
    let ofParts = """
      SELECT \(DispatchLease.columns) FROM dispatch_leases WHERE parts > 1
      ORDER BY database_id, part
      """.except([.everyDatabase, .wholeTable])
    let counts = """
      SELECT holder, COUNT(*), COUNT(CASE WHEN wake_up = 1 THEN 1 END) FROM dispatch_leases
      GROUP BY holder
      """.except([.everyDatabase, .wholeTable])
    let free = """
      SELECT database_id, holder FROM dispatch_leases
      WHERE database_id > $1 AND parts = 1
        AND NOT EXISTS (SELECT 1 FROM servers WHERE server_id = dispatch_leases.holder)
      ORDER BY database_id LIMIT $2
      """.except(.everyDatabase)
    let take: Statement = """
      UPDATE dispatch_leases SET holder = $4, wake_up = 0
      WHERE database_id = $1 AND part = $2 AND parts = $3 AND holder = $5
      """
    let end: Statement =
      "DELETE FROM dispatch_leases WHERE database_id = $1 AND holder = $2 AND parts = 1"
    let release: Statement = """
      UPDATE dispatch_leases SET holder = 0, wake_up = 1
      WHERE database_id = $1 AND part = $2 AND parts = $3 AND holder = $4
      """
  }
  static let sql = Statements()
}

/// A row of ``DispatchLeaseTable``.
struct DispatchLease {
  static let columns = "\(DatabasePart.columns), holder, wake_up, last_change, next_parts"

  var part: DatabasePart
  /// 0 for none. The server may not be registered any more.
  var holder: Int64
  var hasPendingWakeUp: Bool
  var repartition: Repartition?

  init(row: any SQLRow) {
    part = DatabasePart(row: row)
    holder = row.integer(3)
    hasPendingWakeUp = row.integer(4) != 0
    repartition = row.optionalInteger(5).map {
      Repartition(lastChange: $0, nextParts: Int(row.integer(6)))
    }
  }
}

/// A division that takes effect when all present parts have dispatched ``lastChange``.
struct Repartition: Hashable {
  var lastChange: Int64
  /// 1 for a whole database.
  var nextParts: Int
}
