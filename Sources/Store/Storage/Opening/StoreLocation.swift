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
  /// The SQLite file, if it is one.
  package var file: String? {
    if case .file(let path) = self { path } else { nil }
  }

  /// The address of PostgreSQL, if it is used.
  var address: PostgreSQLAddress? {
    if case .postgreSQL(let address, _) = self { address } else { nil }
  }

  /// The folder of the assets' bytes.
  package var assets: String? {
    switch self {
    case .memory: nil
    case .file(let path): path + "-assets"
    case .postgreSQL(_, let assets): assets
    }
  }

  /// Whether other processes write to the store while this one serves it. Then a process may cache
  /// only data that never changes or that it checks again.
  var isShared: Bool {
    if case .postgreSQL = self { true } else { false }
  }

  /// A connection to inspect a store that a server may have open. Make no changes over it. Nil for
  /// a store in memory.
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

  /// - Parameters:
  ///   - damage: records damage of the files.
  ///   - locksRows: whether other connections may have to wait for its transactions.
  ///   - serves: whether it is a server's writing connection.
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
