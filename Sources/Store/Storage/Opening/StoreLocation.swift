import SQLEngine

/// The engine of a store and its location.
public enum StoreLocation: Sendable, Hashable {
  /// An empty store in memory, which is lost when it is closed.
  case memory
  /// An SQLite file, created if there is none.
  case file(path: String)
  /// A database of a PostgreSQL server.
  ///
  /// - Parameter assets: the folder of the assets' bytes; nil keeps them in memory.
  case postgreSQL(PostgreSQLAddress, assets: String?)
}

extension StoreLocation {
  /// The path of the SQLite file; nil for other engines.
  package var file: String? {
    if case .file(let path) = self { path } else { nil }
  }

  /// The address of PostgreSQL, if it is used.
  var address: PostgreSQLAddress? {
    if case .postgreSQL(let address, _) = self { address } else { nil }
  }

  /// The folder of the assets' bytes.
  ///
  /// It is nil if the bytes are kept in memory.
  package var assets: String? {
    switch self {
    case .memory: nil
    case .file(let path): path + "-assets"
    case .postgreSQL(_, let assets): assets
    }
  }

  /// Whether other processes may write to the store while this one serves it: true for PostgreSQL.
  /// A process may then cache only data that never changes or that it checks again.
  var isShared: Bool {
    if case .postgreSQL = self { true } else { false }
  }

  /// Returns a connection for an inspection ("look") of a store that a server may have open; nil
  /// for a store in memory. The caller must only read.
  ///
  /// PostgreSQL cancels a statement that runs longer than 10 seconds.
  func connectToLook() throws -> (any SQLConnection)? {
    switch self {
    case .memory: return nil
    case .file(let path):
      return try SQLiteConnection(readingFileAt: path, isAlone: SQLStore.isUnused(at: path))
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
  ///   - damage: the object that notes damage that the engine finds; nil for none.
  ///   - locksRows: whether the connection's transactions lock rows, so that other connections may
  ///     have to wait. If true, `idleTimeoutMilliseconds` limits an idle transaction on PostgreSQL,
  ///     otherwise `statementTimeoutMilliseconds`. SQLite ignores it.
  ///   - serves: whether the connection writes for a server. Other processes see such a connection
  ///     of PostgreSQL, so they know that the store is served. SQLite ignores it.
  ///   - checkpointPages: the size of SQLite's write-ahead log in pages. When the log has this many
  ///     pages, a commit copies it into the database file; nil if commits never do. PostgreSQL
  ///     ignores it.
  /// - Throws: ``StoreError/Code/cannotOpen`` if the engine cannot open the store.
  package func connect(
    _ tuning: StoreConfiguration.Tuning, damage: StoreDamage? = nil, locksRows: Bool, serves: Bool,
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
      settings.serving = serves ? .together : nil
      settings.idleTimeout =
        locksRows ? tuning.idleTimeoutMilliseconds : tuning.statementTimeoutMilliseconds
      let connection = try PostgreSQLConnection(to: address, settings: settings)
      connection.damage = damage
      return connection
    }
  }
}
