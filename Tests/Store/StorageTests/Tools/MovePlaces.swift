import CloudKitModel
import Foundation
import PostgreSQLTesting
import PropertyTesting

@testable import SQLEngine
@testable import Storage
@testable import StoreTools

/// Places for the stores of a test that moves them: a file, a PostgreSQL, and another file.
struct MovePlaces {
  let file: StoreLocation
  let postgreSQL: StoreLocation
  let otherFile: StoreLocation

  static func use(_ body: (MovePlaces) async throws -> Void) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    try await withTemporaryDirectory { directory in
      try await body(
        MovePlaces(
          file: .file(path: directory + "/a/petrel.sqlite"),
          postgreSQL: .postgreSQL(
            try PostgreSQLAddress(schema.address), assets: directory + "/b/assets"),
          otherFile: .file(path: directory + "/c/petrel.sqlite")))
    }
    try await PostgreSQLServer.shared.drop(schema)
  }
}

extension StoreLocation {
  private static var configuration: StoreConfiguration {
    var configuration = StoreConfiguration()
    configuration.tuning.cacheKilobytes = 4096
    return configuration
  }

  /// Runs `body` on the store that is here, made where there is none, as its server does.
  @discardableResult
  func withStore<Value>(_ body: (TestStore) async throws -> Value) async throws -> Value {
    if let file {
      try FileManager.default.createDirectory(
        atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    }
    let store = try await Store.open(at: self, configuration: Self.configuration)
    do {
      let value = try await body(try await TestStore(store))
      await store.close()
      return value
    } catch {
      await store.close()
      throw error
    }
  }

  /// Runs `body` on a connection with no store around it.
  func withConnection<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
    let connection = try connect(
      Self.configuration.tuning, locksRows: true, serves: false,
      checkpointPages: nil)
    defer { connection.close() }
    return try body(connection)
  }

  func execute(_ script: String) throws {
    try withConnection { try $0.execute(script) }
  }

  /// Puts rows with all that columns may hold into every table.
  ///
  /// - Returns: how many rows the tables have then.
  func fillEveryTable(seed: Int) throws -> [String: Int] {
    try withConnection { connection in
      var random = SeededGenerator(seed: seed)
      var counts: [String: Int] = [:]
      try connection.beginWriting()
      // A store with divided databases is not moved.
      let left = StoreMover.ownTables.union(["dispatch_leases"])
      for name in try SQLTable.names(connection) where !left.contains(name) {
        let table = try SQLTable(named: name, in: connection)
        let optional = Set(
          try connection.rows(
            "SELECT name FROM pragma_table_info($1) WHERE \"notnull\" = 0 AND pk = 0",
            [.text(name)]
          ) { $0.text(0) })
        let parameters = (1...table.columns.count).map { "$\($0)" }.joined(separator: ", ")
        for _ in 0..<60 {
          try connection.run(
            """
            INSERT INTO \(name) (\(table.columnList)) VALUES (\(parameters)) ON CONFLICT DO NOTHING
            """,
            table.columns.map {
              optional.contains($0.name) && random.chance(1, in: 3)
                ? .null : Self.value($0.kind, using: &random)
            })
        }
        counts[name] = try connection.first("SELECT COUNT(*) FROM \(name)", []) {
          Int($0.integer(0))
        }
      }
      try connection.commit()
      return counts
    }
  }

  private static func value(
    _ kind: SQLTable.Kind, using random: inout SeededGenerator
  ) -> SQLValue {
    switch kind {
    case .integer:
      let any = Int64.random(in: -1_000_000...1_000_000, using: &random)
      return .integer(random.pick([.min, -1, 0, 1, .max, any]))
    case .text:
      let start = random.pick(["", "a", "Ab", "é", "\u{1F426}", "'\"\\\t\n", "_x"])
      return .text(start + "\(Int.random(in: 0..<99, using: &random))")
    case .bytes:
      let count = Int.random(in: 0...40, using: &random)
      return .bytes((0..<count).map { _ in random.pick([0, 1, 0x7F, 0xFF]) })
    }
  }
}
