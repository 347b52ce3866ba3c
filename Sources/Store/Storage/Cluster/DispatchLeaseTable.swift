import CloudKitModel
import SQLEngine
import StoreModel

/// Which server dispatches the changes of a database. A row is there for each database that has changes to
/// dispatch, or had some a moment ago. `awaited` is 1 when another server than its holder has committed
/// some. What a holder has is free when it is none of ``ServerTable``. On an engine for one server the table
/// stays empty.
///
/// Databases may be dispatched in parts. A database without a row, or with one, is whole; one that is divided
/// into `parts` has a row for each, whether it has changes or not, and how far it is dispatched in
/// ``PartDispatchTable``. A change is dispatched, and told in `dispatches`, when all parts are through with
/// it.
///
/// While a division is to be changed, `last_change` is the last change that is dispatched in the parts
/// there are, and `next_parts` how many come after it.
struct DispatchLeaseTable {
  let transaction: StoreTransaction

  var connection: any SQLConnection { transaction.connection }

  static let definition = [
    """
    CREATE TABLE dispatch_leases (
      database_id BIGINT NOT NULL, part BIGINT NOT NULL DEFAULT 0,
      parts BIGINT NOT NULL DEFAULT 1, holder BIGINT NOT NULL, awaited BIGINT NOT NULL,
      last_change BIGINT, next_parts BIGINT, PRIMARY KEY (database_id, part))
    """,
    "CREATE INDEX dispatch_leases_by_holder ON dispatch_leases (holder, awaited)",
    "CREATE INDEX dispatch_leases_of_parts ON dispatch_leases (database_id) WHERE parts > 1",
  ]

  // MARK: Reading

  /// The leases of a database, one for each of its parts; none for one that has no changes.
  func leases(of database: DatabaseID) throws -> [DispatchLease] {
    try connection.rows(
      """
      SELECT \(DispatchLease.columns) FROM dispatch_leases WHERE database_id = $1 ORDER BY part
      """, [.integer(database.rawValue)], DispatchLease.init(row:))
  }

  /// The lease of a part.
  ///
  /// - Throws: ``StoreError/Code/leaseLost`` when the database is divided otherwise.
  private func lease(of part: DatabasePart) throws -> DispatchLease? {
    let lease = try connection.first(
      """
      SELECT \(DispatchLease.columns) FROM dispatch_leases WHERE database_id = $1 AND part = $2
      """, [.integer(part.database.rawValue), .integer(Int64(part.number))],
      DispatchLease.init(row:))
    let count = lease?.part.count ?? 1
    guard count == part.count else {
      throw StoreError(
        .leaseLost,
        "part \(part.number) of \(part.count) of database \(part.database.rawValue) is none by now: "
          + "the database is dispatched in \(count) parts")
    }
    return lease
  }

  /// Sees to it that the changes of a part are this process's to dispatch, and answers what comes after
  /// the parts there are.
  ///
  /// - Throws: ``StoreError/Code/leaseLost`` when this process is a server and has no lease of the
  ///   part, or the database is divided otherwise.
  func checkLease(of part: DatabasePart) throws -> Repartition? {
    guard let identity = transaction.context.identity else { return nil }
    let lease = try lease(of: part)
    guard identity.current == nil || lease?.holder == identity.current?.rawValue else {
      throw StoreError(
        .leaseLost,
        "the changes of database \(part.database.rawValue) are another server's to dispatch")
    }
    return lease?.repartition
  }

  /// What comes after the parts in which a database is dispatched; nil when nothing else is to.
  func repartition(of part: DatabasePart) throws -> Repartition? {
    guard transaction.context.identity != nil else { return nil }
    return try leases(of: part.database).first { $0.part == part }?.repartition
  }

  func isLeased(_ part: DatabasePart, to server: ServerID) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM dispatch_leases
      WHERE database_id = $1 AND part = $2 AND parts = $3 AND holder = $4
      """, part.key + [.integer(server.rawValue)]
    ) { _ in true } ?? false
  }

  func parts(of server: ServerID) throws -> [DatabasePart] {
    try connection.rows(
      "SELECT \(DatabasePart.columns) FROM dispatch_leases WHERE holder = $1",
      [.integer(server.rawValue)], DatabasePart.init(row:))
  }

  /// The leases of all databases that are divided, in the order of their parts.
  func leasesOfParts() throws -> [DispatchLease] {
    try connection.rows(
      """
      SELECT \(DispatchLease.columns) FROM dispatch_leases WHERE parts > 1
      ORDER BY database_id, part
      """, [], DispatchLease.init(row:))
  }

  /// How many leases each holder has, and how many of them others wait for.
  func counts() throws -> [Int64: (leased: Int, awaited: Int)] {
    var leases: [Int64: (leased: Int, awaited: Int)] = [:]
    try connection.query(
      """
      SELECT holder, COUNT(*), COUNT(CASE WHEN awaited = 1 THEN 1 END) FROM dispatch_leases
      GROUP BY holder
      """, []
    ) { leases[$0.integer(0)] = (Int($0.integer(1)), Int($0.integer(2))) }
    return leases
  }

  /// A page of the databases whose holder is no server any more, in the order of their numbers.
  func freeDatabases(after database: DatabaseID, limit: Int) throws -> [FreePart] {
    try connection.rows(
      """
      SELECT database_id, holder FROM dispatch_leases
      WHERE database_id > $1 AND parts = 1
        AND NOT EXISTS (SELECT 1 FROM servers WHERE server_id = dispatch_leases.holder)
      ORDER BY database_id LIMIT $2
      """, [.integer(database.rawValue), .integer(Int64(max(0, limit)))]
    ) {
      FreePart(
        part: .whole(DatabaseID(rawValue: $0.integer(0))), formerHolder: $0.integer(1))
    }
  }

  // MARK: Writing

  /// Leases a part that was free; false when another server was quicker. The caller has locked the
  /// database's row.
  func lease(_ part: FreePart, to server: ServerID) throws -> Bool {
    let count = try connection.run(
      """
      UPDATE dispatch_leases SET holder = $4, awaited = 0
      WHERE database_id = $1 AND part = $2 AND parts = $3 AND holder = $5
      """,
      part.part.key + [.integer(server.rawValue), .integer(part.formerHolder)])
    if count == 1 { return true }
    // The answer to an earlier attempt may have been lost.
    return try isLeased(part.part, to: server)
  }

  /// Ends the lease of a database that is whole.
  func endLease(of database: DatabaseID, by server: ServerID) throws {
    try connection.run(
      "DELETE FROM dispatch_leases WHERE database_id = $1 AND holder = $2 AND parts = 1",
      [.integer(database.rawValue), .integer(server.rawValue)])
  }

  /// Leaves a part to other servers.
  func release(_ part: DatabasePart, by server: ServerID) throws {
    try connection.run(
      """
      UPDATE dispatch_leases SET holder = 0, awaited = 1
      WHERE database_id = $1 AND part = $2 AND parts = $3 AND holder = $4
      """, part.key + [.integer(server.rawValue)])
  }
}

/// The row of a part in the table of leases.
struct DispatchLease {
  static let columns = "\(DatabasePart.columns), holder, awaited, last_change, next_parts"

  var part: DatabasePart
  var holder: Int64
  var isAwaited: Bool
  var repartition: Repartition?

  fileprivate init(row: any SQLRow) {
    part = DatabasePart(row: row)
    holder = row.integer(3)
    isAwaited = row.integer(4) != 0
    repartition = row.optionalInteger(5).map {
      Repartition(lastChange: $0, nextParts: Int(row.integer(6)))
    }
  }
}

/// What comes after the parts in which a database is dispatched.
struct Repartition: Hashable {
  /// The last change that is dispatched in the parts there are.
  var lastChange: Int64
  var nextParts: Int
}
