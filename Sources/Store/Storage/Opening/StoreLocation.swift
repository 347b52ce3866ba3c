import SQLEngine

/// Where a store is: the engine that keeps it, and what that needs to find it.
public enum StoreLocation: Sendable, Hashable {
  /// An empty one, gone when it is closed.
  case memory
  /// An SQLite file, made when there is none.
  case file(path: String)
  /// A database of a PostgreSQL server.
  ///
  /// - Parameter assets: the folder of the assets' bytes; nil keeps them in memory.
  case postgreSQL(PostgreSQLAddress, assets: String?)
}

extension StoreLocation {
  /// The SQLite file.
  package var file: String? {
    if case .file(let path) = self { path } else { nil }
  }

  /// Where the PostgreSQL is.
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

  /// Whether other processes write to the store while this one serves it, so that what a process
  /// knows by heart of it must be looked up again or never change.
  var isShared: Bool {
    if case .postgreSQL = self { true } else { false }
  }

  /// A connection to look at a store that a server may have open. Nothing may be changed over it. Nil for one
  /// in memory.
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
  ///   - damage: where it is taken down that files are damaged.
  ///   - locksRows: whether others may have to wait for its transactions.
  ///   - serves: whether it is the connection of a server that writes.
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
