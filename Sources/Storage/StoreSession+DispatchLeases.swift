import CloudKitModel

extension StoreSession {
  /// Makes known that there are changes to dispatch: leases their databases to this server, or leaves
  /// word for the server that has them. What others dispatch is taken out of ``outbox``.
  ///
  /// The transaction has locked the databases' rows, as whoever gives a lease has, so that no lease
  /// changes hands meanwhile.
  func pointToChanges() throws {
    guard let identity, !outbox.isEmpty else { return }
    let server = identity.current
    var others: Set<DatabaseID> = []
    for database in Set(outbox.map(\.database)).sorted(by: { $0.rawValue < $1.rawValue }) {
      if try !lease(database, orLeaveWordFrom: server) { others.insert(database) }
    }
    // Who is no server of several looks after all that it commits, or nobody does.
    if server != nil, !others.isEmpty { outbox.removeAll { others.contains($0.database) } }
  }

  /// - Returns: whether the database is this server's.
  private func lease(
    _ database: DatabaseID, orLeaveWordFrom server: ServerID?
  ) throws -> Bool {
    let id = SQLValue.integer(database.rawValue)
    let known = try connection.first(
      "SELECT holder, awaited FROM dispatch_leases WHERE database_id = $1", [id]
    ) { (holder: $0.integer(0), isAwaited: $0.integer(1) != 0) }
    guard let known else {
      try connection.run(
        "INSERT INTO dispatch_leases (database_id, holder, awaited) VALUES ($1, $2, 0)",
        [id, .integer(server?.rawValue ?? 0)])
      return server != nil
    }
    if let server, known.holder == server.rawValue { return true }
    if known.isAwaited { return false }
    if let server, try takeOver(database, for: server) { return true }
    try connection.run("UPDATE dispatch_leases SET awaited = 1 WHERE database_id = $1", [id])
    return false
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

  /// - Throws: ``StoreError/Code/leaseLost`` when this process is a server and has no lease of the
  ///   database.
  func checkLease(of database: DatabaseID) throws {
    guard let server = identity?.current else { return }
    let holder = try connection.first(
      "SELECT holder FROM dispatch_leases WHERE database_id = $1", [.integer(database.rawValue)]
    ) { $0.integer(0) }
    guard holder == server.rawValue else {
      throw StoreError(
        .leaseLost, "the changes of database \(database.rawValue) are another server's to dispatch")
    }
  }
}
