import SQLEngine

/// The engine of a store, with the location of the store's data.
public enum StoreLocation: Sendable, Hashable {
  /// An empty store in memory, lost when it is closed.
  case memory
  /// An SQLite file, which is created if there is none.
  case file(path: String)
  /// A database of a PostgreSQL server. Without a folder for the bytes of `assets`, they are in
  /// memory.
  case postgreSQL(PostgreSQLAddress, assets: String?)
}

extension StoreLocation {
  package var file: String? {
    if case .file(let path) = self { path } else { nil }
  }

  var address: PostgreSQLAddress? {
    if case .postgreSQL(let address, _) = self { address } else { nil }
  }

  package var assets: String? {
    switch self {
    case .memory: nil
    case .file(let path): path + "-assets"
    case .postgreSQL(_, let assets): assets
    }
  }

  /// Several servers may use a store on PostgreSQL. A process may then cache only data that never
  /// changes, or whose version it checks before each use.
  var isShared: Bool {
    if case .postgreSQL = self { true } else { false }
  }

  /// For a tool that reads a store which a server may have open. The caller must not write;
  /// PostgreSQL cancels a statement after 10 seconds. nil for a store in memory.
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

  /// SQLite ignores `outage`, `locksRows` and `serves`; PostgreSQL ignores `checkpointPages`.
  ///
  /// - Parameters:
  ///   - locksRows: whether other connections may have to wait for locks of rows. An idle
  ///     transaction then ends after `idleTimeoutMilliseconds`, otherwise after
  ///     `statementTimeoutMilliseconds`.
  ///   - serves: whether to take the lock that shows that a server has the store open. The
  ///     connections of a server's writing threads do.
  ///   - checkpointPages: the pages in the log at which a commit copies it; nil for never.
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
