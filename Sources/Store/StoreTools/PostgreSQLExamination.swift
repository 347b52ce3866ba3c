import Foundation
import SQLEngine
import Storage
import StoreModel

/// An inspection of a PostgreSQL database that has a store or will have one, for `petrel doctor`.
/// It changes nothing.
public struct PostgreSQLExamination: Sendable, Hashable {
  /// The oldest version of PostgreSQL that `petrel doctor` accepts: 13, in the format of
  /// ``version``. PostgreSQL's developers no longer maintain older versions.
  public static let oldestVersion = 130_000
  /// The connections of a server: one for each writing and reading thread, and one each for
  /// cluster membership, notifications and shared limits.
  public static let connections =
    StoreConfiguration().writers + StoreConfiguration().readers + 3

  private static let leastVersionWithAssets: Int64 = 5

  /// The version in the format of `server_version_num`: 150004 stands for 15.4.
  public var version = 0
  /// The encoding of the database, such as `UTF8`.
  public var encoding = ""
  /// Any of `fsync` and `full_page_writes` that is not `on`, so that a power failure can lose or
  /// damage data.
  public var unsafeSettings: [String] = []
  /// Whether PostgreSQL's pages have checksums, by which it finds damage.
  public var hasChecksums = true
  /// The pages of this database that did not match their checksums when PostgreSQL read them.
  public var damagedPages = 0
  /// Whether PostgreSQL refuses writes, as on a standby.
  public var isStandby = false
  /// The connections for ordinary users: `max_connections` minus `superuser_reserved_connections`.
  public var connectionLimit = 0
  /// The connections of all programs, this one included.
  public var usedConnections = 0
  /// The store's schema version; nil if there is no store yet.
  public var schemaVersion: Int64?
  /// The reason why servers cannot open a store that was restored from a copy, with the necessary
  /// step.
  public var restoration: String?
  /// The bytes of the store's tables and their indexes.
  public var storeBytes: Int?
  /// The distribution of the store's tables over several nodes, if it is distributed.
  public var spread: StoreDistribution.Spread?
  /// Whether a server has the store open.
  public var isServed = false
  /// The identity of the folder with the assets, if a server has used one.
  public var assetFolder: String?
  /// Whether the store has assets or announced uploads, and so needs a folder.
  public var hasAssets = false

  /// Creates the result for a database without a store and without problems.
  public init() {}

  /// Inspects a database over a connection of its own. PostgreSQL ends a statement after 10
  /// seconds.
  ///
  /// - Throws: ``StoreError/Code/cannotOpen`` if PostgreSQL cannot be reached; another
  ///   ``StoreError`` if a statement fails.
  public static func look(at address: PostgreSQLAddress) async throws -> PostgreSQLExamination {
    try await Store.onThread {
      var settings = PostgreSQLConnection.Settings()
      settings.statementTimeout = 10_000
      let connection = try PostgreSQLConnection(to: address, settings: settings)
      defer { connection.close() }
      return try PostgreSQLExamination(over: connection)
    }
  }

  private init(over connection: PostgreSQLConnection) throws {
    func setting(_ name: String) throws -> String {
      try connection.text("SELECT current_setting($1)", [.text(name)]) ?? ""
    }
    func count(_ statement: Statement) throws -> Int {
      Int(try connection.integer(statement, []) ?? 0)
    }
    version = Int(try setting("server_version_num")) ?? 0
    encoding = try setting("server_encoding")
    unsafeSettings = try ["fsync", "full_page_writes"].filter { try setting($0) != "on" }
    hasChecksums = try setting("data_checksums") == "on"
    // Null without checksums, which reads as 0.
    damagedPages = try count(
      "SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()")
    isStandby = try setting("transaction_read_only") == "on"
    connectionLimit =
      (Int(try setting("max_connections")) ?? 0)
      - (Int(try setting("superuser_reserved_connections")) ?? 0)
    usedConnections = try count(
      "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
    if try count("SELECT to_regclass('schema_version') IS NOT NULL") == 1 {
      schemaVersion = try Migration.version(over: connection)
      do { try ServedLocation.check(connection) } catch let error as StoreError {
        guard error.code == .cannotOpen else { throw error }
        restoration = error.reason
      }
      spread = try StoreDistribution.spread(over: connection)
      storeBytes = try TableSizes.look(
        over: connection, isDistributed: spread.map { $0.nodeCount > 0 } ?? false
      ).database
    }
    if schemaVersion ?? 0 >= Self.leastVersionWithAssets {
      assetFolder = try connection.first(
        "SELECT value FROM secrets WHERE name = 'asset-folder'", []
      ) { String(decoding: $0.bytes(0), as: UTF8.self) }
      hasAssets = try connection.exists(
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM assets) OR EXISTS (SELECT 1 FROM asset_uploads)", [])
    }
    isServed = try PostgreSQLSession.isServed(over: connection)
  }
}
