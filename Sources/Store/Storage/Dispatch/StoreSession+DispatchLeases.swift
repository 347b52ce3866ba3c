import CloudKitModel
import SQLEngine
import StoreModel

/// What comes after the parts in which a database is dispatched.
struct Repartition: Hashable {
  /// The last change that is dispatched in the parts there are.
  var lastChange: Int64
  var nextParts: Int
}

/// The row of a part in the table of leases.
struct DispatchLease {
  static let columns = "\(DatabasePart.columns), holder, awaited, last_change, next_parts"

  var part: DatabasePart
  var holder: Int64
  var isAwaited: Bool
  var repartition: Repartition?

  init(row: any SQLRow) {
    part = DatabasePart(row: row)
    holder = row.integer(3)
    isAwaited = row.integer(4) != 0
    repartition = row.optionalInteger(5).map {
      Repartition(lastChange: $0, nextParts: Int(row.integer(6)))
    }
  }
}

extension StoreSession {
  /// Makes known that there are changes to dispatch: leases their databases to this server, or leaves
  /// word for the server that has them. What others dispatch is taken out of ``outbox``; of a database
  /// that is divided, what this server has of it stays.
  ///
  /// The transaction has locked the databases' rows, as whoever gives a lease has, so that no lease
  /// changes hands meanwhile.
  func pointToChanges() throws {
    guard let identity, !outbox.isEmpty else { return }
    let server = identity.current
    var parts: [DatabaseID: [DatabasePart]] = [:]
    for database in Set(outbox.map(\.database)).sorted() {
      let own = try leasedParts(of: database, leavingWordFrom: server)
      if own != [.whole(database)] { parts[database] = own }
    }
    if parts.isEmpty { return }
    outbox = outbox.flatMap { entry in
      guard let own = parts[entry.database] else { return [entry] }
      return own.map { part in
        var entry = entry
        entry.part = part
        return entry
      }
    }
  }

  /// The parts of a database whose changes this process is to dispatch; for those of the others word is
  /// left.
  private func leasedParts(
    of database: DatabaseID, leavingWordFrom server: ServerID?
  ) throws -> [DatabasePart] {
    let id = SQLValue.integer(database.rawValue)
    let leases = try leases(of: database)
    guard let first = leases.first else {
      try connection.run(
        "INSERT INTO dispatch_leases (database_id, holder, awaited) VALUES ($1, $2, 0)",
        [id, .integer(server?.rawValue ?? 0)])
      return [.whole(database)]
    }
    // Those that come after the parts there are look for the change by themselves.
    if first.repartition != nil { return [] }
    guard first.part.isWhole else {
      try leaveWord(in: leases, from: server)
      return leases.filter { $0.holder == server?.rawValue }.map(\.part)
    }
    // Who is no server of several looks after all that it commits, or nobody does.
    let others: [DatabasePart] = server == nil ? [first.part] : []
    if let server, first.holder == server.rawValue { return [first.part] }
    if let server, !first.isAwaited, identity?.isPresent(first.holder) == false,
      try takeOver(database, for: server)
    {
      return [first.part]
    }
    try leaveWord(in: leases, from: server)
    return others
  }

  /// Leaves word for the others that have parts of a database, where there is none that they have not
  /// heard of.
  private func leaveWord(in leases: [DispatchLease], from server: ServerID?) throws {
    let others = leases.filter { $0.holder != server?.rawValue }
    guard let database = others.first?.part.database else { return }
    let key = [SQLValue.integer(database.rawValue), .integer(server?.rawValue ?? 0)]
    var kept: Set<Int> = []
    if others.contains(where: \.isAwaited) {
      // It stays until the changes of this transaction can be seen: whoever hears it passes over what is
      // locked.
      try connection.query(
        """
        SELECT part FROM dispatch_leases WHERE database_id = $1 AND holder <> $2 AND awaited = 1
        ORDER BY part FOR SHARE
        """, key
      ) { kept.insert(Int($0.integer(0))) }
    }
    let unaware = others.filter { !kept.contains($0.part.number) }
    if unaware.isEmpty { return }
    try connection.run(
      "UPDATE dispatch_leases SET awaited = 1 WHERE database_id = $1 AND holder <> $2 AND awaited = 0",
      key)
    wordLeft.formUnion(unaware.map { ServerID(rawValue: $0.holder) }.filter { $0.rawValue != 0 })
  }

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
  func lease(of part: DatabasePart) throws -> DispatchLease? {
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

  /// Leases a database to a server when its holder is gone. What that has left undone comes to light
  /// when the changes of this transaction are to be dispatched before it.
  private func takeOver(_ database: DatabaseID, for server: ServerID) throws -> Bool {
    try connection.run(
      """
      UPDATE dispatch_leases SET holder = $2, awaited = 0 WHERE database_id = $1
        AND NOT EXISTS (SELECT 1 FROM servers WHERE server_id = dispatch_leases.holder)
      """, [.integer(database.rawValue), .integer(server.rawValue)]) == 1
  }

  /// Sees to it that the changes of a part are this process's to dispatch, and answers what comes after
  /// the parts there are.
  ///
  /// - Throws: ``StoreError/Code/leaseLost`` when this process is a server and has no lease of the
  ///   part, or the database is divided otherwise.
  func checkLease(of part: DatabasePart) throws -> Repartition? {
    guard let identity else { return nil }
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
    guard identity != nil else { return nil }
    return try leases(of: part.database).first { $0.part == part }?.repartition
  }
}
