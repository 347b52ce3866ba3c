import Foundation
import SQLEngine
import Storage
import StoreModel

/// What a look at a PostgreSQL shows that a store is in, or is to be in. Nothing there is changed.
public struct PostgreSQLExamination: Sendable, Hashable {
  /// Older ones are not looked after any more by those who make them.
  public static let oldestVersion = 130_000
  /// The connections that a server has open: beside writers and readers one for what servers know of each
  /// other, one on which it hears their notifications, and one for the limits that they have together.
  public static let connections =
    StoreConfiguration().writers + StoreConfiguration().readers + 3

  private static let leastVersionWithAssets: Int64 = 5

  /// As `server_version_num` has it: 150004 is 15.4.
  public var version = 0
  /// Such as `UTF8`.
  public var encoding = ""
  /// Settings that are not as they must be for commits to outlast a power failure.
  public var unsafeSettings: [String] = []
  /// Whether pages have checksums, so that damage to them is noticed.
  public var hasChecksums = true
  /// Pages of the database that did not match their checksums when PostgreSQL read them.
  public var damagedPages = 0
  /// Whether it only follows another server.
  public var isStandby = false
  /// What `max_connections` leaves to those who are no superusers, and how many of them are taken.
  public var connectionLimit = 0
  public var usedConnections = 0
  /// The schema version that migrations have led to; nil where there is no store yet.
  public var schemaVersion: Int64?
  /// What to do before the store can be served, which came from a copy; nil where it did not.
  public var restoration: String?
  /// What the tables take with their indexes; nil where there is no store yet.
  public var storeBytes: Int?
  /// Over what the store is distributed; nil where it is not.
  public var spread: StoreDistribution.Spread?
  /// Whether a server has the store open.
  public var isServed = false
  /// The identity of the folder in which the store's assets are; nil where no server has had one yet.
  public var assetFolder: String?
  public var hasAssets = false

  public init() {}

  /// - Throws: ``StoreError/Code/cannotOpen`` when it cannot be reached.
  public static func look(at address: PostgreSQLAddress) async throws -> PostgreSQLExamination {
    try await SQLStore.onThread {
      var settings = PostgreSQLConnection.Settings()
      settings.statementTimeout = 10_000
      let connection = try PostgreSQLConnection(to: address, settings: settings)
      defer { connection.close() }
      return try PostgreSQLExamination(over: connection)
    }
  }

  private init(over connection: PostgreSQLConnection) throws {
    func setting(_ name: String) throws -> String {
      try connection.first("SELECT current_setting($1)", [.text(name)]) { $0.text(0) } ?? ""
    }
    version = Int(try setting("server_version_num")) ?? 0
    encoding = try setting("server_encoding")
    unsafeSettings = try ["fsync", "full_page_writes"].filter { try setting($0) != "on" }
    hasChecksums = try setting("data_checksums") == "on"
    damagedPages =
      try connection.first(
        "SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()", []
      ) { $0.isNull(0) ? 0 : Int($0.integer(0)) } ?? 0
    isStandby = try setting("transaction_read_only") == "on"
    connectionLimit =
      (Int(try setting("max_connections")) ?? 0)
      - (Int(try setting("superuser_reserved_connections")) ?? 0)
    usedConnections =
      try connection.first(
        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'", []
      ) { Int($0.integer(0)) } ?? 0
    let hasStore = try connection.first("SELECT to_regclass('schema_version') IS NOT NULL", []) {
      $0.integer(0) == 1
    }
    if hasStore == true {
      schemaVersion = try Migration.version(over: connection)
      do { try StorePlace.check(connection) } catch let error as StoreError {
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
      hasAssets =
        try connection.first(
          "SELECT 1 WHERE EXISTS (SELECT 1 FROM assets) OR EXISTS (SELECT 1 FROM asset_uploads)", []
        ) { _ in true } ?? false
    }
    isServed = try PostgreSQLSession.isServed(over: connection)
  }
}
