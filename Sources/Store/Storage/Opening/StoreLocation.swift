import SQLEngine

/// The engine of a store, with the location of the store's data.
public enum StoreLocation: Sendable, Hashable {
  /// An empty store in memory. Its contents are lost when the store is closed.
  case memory
  /// An SQLite file, which is created if there is none.
  case file(path: String)
  /// A database of a PostgreSQL server.
  ///
  /// - Parameter assets: the path of the folder for the bytes of assets; nil keeps the bytes in
  ///   memory.
  case postgreSQL(PostgreSQLAddress, assets: String?)
}

extension StoreLocation {
  /// The path of the SQLite file; nil for other engines.
  package var file: String? {
    if case .file(let path) = self { path } else { nil }
  }

  /// The address of the PostgreSQL server; nil for other engines.
  var address: PostgreSQLAddress? {
    if case .postgreSQL(let address, _) = self { address } else { nil }
  }

  /// The path of the folder for the bytes of assets; nil if the bytes are kept in memory.
  package var assets: String? {
    switch self {
    case .memory: nil
    case .file(let path): path + "-assets"
    case .postgreSQL(_, let assets): assets
    }
  }

  /// Whether several servers may use the store at the same time: true for PostgreSQL. If so, a
  /// process may cache only data that never changes, or data whose version it checks before each
  /// use.
  var isShared: Bool {
    if case .postgreSQL = self { true } else { false }
  }

  /// Opens a connection over which a tool reads a store that a server may have open. The caller
  /// must not write.
  ///
  /// PostgreSQL cancels a statement that runs longer than 10 seconds.
  ///
  /// - Returns: the connection; nil for a store in memory.
  /// - Throws: ``StoreError`` if the store cannot be opened.
  func connectToLook() throws -> (any SQLConnection)? {
    switch self {
    case .memory: return nil
    case .file(let path):
      return try SQLiteConnection(readingFileAt: path, isAlone: Store.isUnused(at: path))
    case .postgreSQL(let address, _):
      var settings = PostgreSQLConnection.Settings()
      settings.statementTimeout = 10_000
      return try PostgreSQLConnection(to: address, settings: settings)
    }
  }

  /// Opens a connection to the store.
  ///
  /// - Parameters:
  ///   - tuning: the engine's settings.
  ///   - damage: the object that records damage found by the engine; nil if damage is not recorded.
  ///   - outage: the outages of PostgreSQL, as the connections of the store know them. SQLite ignores
  ///     this parameter.
  ///   - locksRows: whether the connection's transactions lock rows, so that other connections may
  ///     have to wait. It also decides how long a transaction may be idle before PostgreSQL ends
  ///     it: `idleTimeoutMilliseconds` if true, `statementTimeoutMilliseconds` if false. SQLite
  ///     ignores this parameter.
  ///   - serves: whether the connection takes the lock that shows other processes that a server has
  ///     the PostgreSQL store open. The connections of a server's writing threads take it. SQLite
  ///     ignores this parameter.
  ///   - checkpointPages: the number of pages in SQLite's write-ahead log at which a commit copies
  ///     the log into the database file; nil if commits never do so. PostgreSQL ignores this
  ///     parameter.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the engine cannot open the store.
  package func connect(
    _ tuning: StoreConfiguration.Tuning, damage: StoreDamage? = nil,
    outage: PostgreSQLOutage = PostgreSQLOutage(), locksRows: Bool, serves: Bool,
    checkpointPages: Int?
  ) throws -> any SQLConnection {
    switch self {
    case .memory, .file:
      let connection = try SQLiteConnection(
        path: file,
        settings: SQLiteConnection.Settings(
          cacheKilobytes: tuning.cacheKilobytes, busyTimeout: tuning.busyTimeoutMilliseconds),
        checkpointPages: checkpointPages)
      connection.damage = damage
      return connection
    case .postgreSQL(let address, _):
      var settings = PostgreSQLConnection.Settings()
      settings.statementTimeout = tuning.statementTimeoutMilliseconds
      settings.lockTimeout = tuning.busyTimeoutMilliseconds
      settings.limits = PostgreSQLExchange.Limits(
        silence: .milliseconds(tuning.silenceMilliseconds),
        patience: .milliseconds(tuning.probeMilliseconds))
      settings.outage = outage
      settings.serving = serves ? .together : nil
      settings.plansOnce = locksRows
      settings.idleTimeout =
        locksRows ? tuning.idleTimeoutMilliseconds : tuning.statementTimeoutMilliseconds
      let connection = try PostgreSQLConnection(to: address, settings: settings)
      connection.damage = damage
      return connection
    }
  }
}
