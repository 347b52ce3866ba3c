import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage
@testable import StoreTools

struct StoreMoveTests {
  private struct Killed: Error {}

  @Test(
    "rows of every table, with all that columns may hold, go there and back",
    arguments: Seeds.some(1))
  func everyTable(_ seed: Int) async throws {
    try await MovePlaces.use { places in
      try await places.file.withStore { _ in }
      let counts = try places.file.fillEveryTable(seed: seed)
      let there = try await StoreMove.run(from: places.file, to: places.postgreSQL)
      let back = try await StoreMove.run(from: places.postgreSQL, to: places.otherFile)
      #expect(there.tables == back.tables)
      #expect(
        Set(there.tables.map(\.name)) == Set(counts.keys).subtracting(StoreMover.tablesOfServers))
      for table in there.tables {
        // What a server had in memory of the log is filed before.
        if ["unfiled_notifications", "notification_index"].contains(table.name) { continue }
        #expect(table.rows == counts[table.name], "\(table.name)")
        #expect(table.rows > 3, "\(table.name)")
      }
    }
  }

  @Test("both engines have the same tables, and each a primary key to be moved by")
  func catalogs() async throws {
    try await MovePlaces.use { places in
      try await places.file.withStore { _ in }
      try await places.postgreSQL.withStore { _ in }
      func tables(_ location: StoreLocation) throws -> [SQLTable] {
        try location.withConnection { connection in
          try SQLTable.names(connection).filter { $0 != "schema_version" }.map {
            try SQLTable(named: $0, in: connection)
          }
        }
      }
      let tables = (file: try tables(places.file), postgreSQL: try tables(places.postgreSQL))
      #expect(tables.file == tables.postgreSQL)
      let records = try #require(tables.file.first { $0.name == "records" })
      #expect(records.key.map(\.name) == ["database_id", "record_number"])
    }
  }

  @Test(
    "a move that ends after any transaction goes on where it was, both ways",
    arguments: Seeds.some(2))
  func interruptions(_ seed: Int) async throws {
    try await MovePlaces.use { places in
      try await places.file.withStore { _ in }
      _ = try places.file.fillEveryTable(seed: seed)
      var random = SeededGenerator(seed: seed)
      var results: [StoreMove.Result] = []
      for (source, target) in [
        (places.file, places.postgreSQL), (places.postgreSQL, places.otherFile),
      ] {
        var ends = 0
        while true {
          let allowed = Int.random(in: 0...80, using: &random)
          let counter = CommitCounter()
          do {
            results.append(
              try await StoreMove.run(
                from: source, to: target,
                limits: StoreMove.BatchLimits(rows: Int.random(in: 1...30, using: &random)),
                committed: { _ in
                  if counter.next() > allowed { throw Killed() }
                }))
            break
          } catch is Killed {
            ends += 1
            // Nobody takes it for a store meanwhile.
            #expect(await storeError { try await target.withStore { _ in } } == .cannotOpen)
          }
        }
        #expect(ends > 0)
        #expect(results.last?.isContinued == true)
      }
      #expect(results[0].tables == results[1].tables)
    }
  }

  @Test("files of assets go with their records, and what is lost already is told")
  func assets() async throws {
    try await MovePlaces.use { places in
      try await places.file.withStore { test in
        for number in 0..<20 {
          let asset = try await test.upload(
            "bytes \(number)", receipt: "r\(number)", record: "n\(number)")
          try await test.save("n\(number)", ["file": .asset(asset)])
        }
      }
      let lost = try places.file.withConnection {
        try $0.first("SELECT database_id, file FROM assets ORDER BY file", []) {
          "\($0.integer(0))/\($0.text(1).prefix(2))/\($0.text(1))"
        }
      }
      try FileManager.default.removeItem(
        atPath: try #require(places.file.assets) + "/" + #require(lost))
      let there = try await StoreMove.run(from: places.file, to: places.postgreSQL)
      #expect(there.assets == 19 && there.missingAssets == [lost])
      let back = try await StoreMove.run(from: places.postgreSQL, to: places.otherFile)
      #expect(back.assets == 19 && back.assetBytes == there.assetBytes)
      try await places.otherFile.withStore { test in
        var read = 0
        for number in 0..<20 {
          guard case .asset(let asset)? = try await test.record("n\(number)")?.fields["file"] else {
            Issue.record("n\(number) has no asset")
            continue
          }
          guard
            let name = try await test.store.assets.assetName(
              forChecksum: asset.fileChecksum, seenBy: nil, in: test.publicID),
            try await test.store.assets.files.open(name) != nil
          else { continue }
          #expect(try await test.bytes(of: asset) == Data("bytes \(number)".utf8))
          read += 1
        }
        #expect(read == 19)
      }
    }
  }

  // MARK: Refusals

  @Test("a source that is served is refused, on both engines")
  func served() async throws {
    try await MovePlaces.use { places in
      for (source, target) in [
        (places.file, places.otherFile), (places.postgreSQL, places.otherFile),
      ] {
        try await source.withStore { _ in
          await expectFailure(.cannotOpen, "open; stop it first") {
            try await StoreMove.run(from: source, to: target)
          }
        }
      }
    }
  }

  @Test("while a store in PostgreSQL is moved nobody opens it")
  func openedMeanwhile() async throws {
    try await MovePlaces.use { places in
      try await places.postgreSQL.withStore { _ in }
      let end = try StoreMoveEnd(source: places.postgreSQL)
      #expect(await storeError { try await places.postgreSQL.withStore { _ in } } == .cannotOpen)
      end.connection.close()
      try await places.postgreSQL.withStore { _ in }
    }
  }

  @Test("a target with anything in it is refused and stays as it is")
  func occupied() async throws {
    try await MovePlaces.use { places in
      try await places.file.withStore { try await $0.save("a") }
      try await places.postgreSQL.withStore { try await $0.save("b") }
      for (source, target) in [
        (places.file, places.postgreSQL), (places.postgreSQL, places.file),
      ] {
        await expectFailure(.exists, "nothing is overwritten") {
          try await StoreMove.run(from: source, to: target)
        }
      }
      await expectFailure(.exists, "the same place") {
        try await StoreMove.run(from: places.file, to: places.file)
      }
      try await places.postgreSQL.withStore { (test) async throws in
        #expect(try await test.record("b") != nil)
        #expect(try await test.record("a") == nil)
      }
    }
  }

  @Test("an older or newer form is refused with what to do")
  func forms() async throws {
    try await MovePlaces.use { places in
      await expectFailure(.cannotOpen, "there is no store") {
        try await StoreMove.run(from: places.file, to: places.postgreSQL)
      }
      await expectFailure(.cannotOpen, "is not a Petrel store") {
        try await StoreMove.run(from: places.postgreSQL, to: places.file)
      }
      try await places.file.withStore { _ in }
      try places.file.execute("UPDATE schema_version SET version = \(Schema.oldestVersion - 1)")
      await expectFailure(.olderSchema, "Start with an empty data directory") {
        try await StoreMove.run(from: places.file, to: places.postgreSQL)
      }
      try places.file.execute("UPDATE schema_version SET version = \(Schema.newestVersion + 1)")
      await expectFailure(.newerSchema, "Use the newer program") {
        try await StoreMove.run(from: places.file, to: places.postgreSQL)
      }
    }
  }

  @Test("an unfinished move goes on only from its own source, as it was then")
  func otherSource() async throws {
    try await MovePlaces.use { places in
      for place in [places.file, places.otherFile] {
        try await place.withStore { try await $0.save("a") }
      }
      await #expect(throws: Killed.self) {
        try await StoreMove.run(
          from: places.file, to: places.postgreSQL, limits: StoreMove.BatchLimits(rows: 2),
          committed: { _ in throw Killed() })
      }
      await expectFailure(.exists, "unfinished migration of another store") {
        try await StoreMove.run(from: places.otherFile, to: places.postgreSQL)
      }
      await expectFailure(.cannotOpen, "is not complete") {
        try await StoreMove.run(from: places.postgreSQL, to: places.otherFile)
      }
      try await places.file.withStore { try await $0.save("b") }
      await expectFailure(.exists, "was changed after") {
        try await StoreMove.run(from: places.file, to: places.postgreSQL)
      }
    }
  }

  @Test(
    "a difference in the end is told with the table and the first key",
    arguments: [
      ("UPDATE records SET content = '' WHERE record_name = 'n7'", "differs"),
      ("DELETE FROM records WHERE record_name = 'n7'", "where the source has"),
      ("DELETE FROM records WHERE record_name = 'n19'", "the target has no more"),
    ])
  func differences(_ change: String, _ text: String) async throws {
    try await MovePlaces.use { places in
      try await places.file.withStore { test in
        for number in 0..<20 { try await test.save("n\(number)") }
      }
      await #expect(throws: Killed.self) {
        try await StoreMove.run(
          from: places.file, to: places.postgreSQL, limits: StoreMove.BatchLimits(),
          committed: { if $0.table == "records" { throw Killed() } })
      }
      try places.postgreSQL.execute(change)
      await expectFailure(.corrupt, "table 'records' differs: it has 20 rows", text) {
        try await StoreMove.run(from: places.file, to: places.postgreSQL)
      }
      #expect(await storeError { try await places.postgreSQL.withStore { _ in } } == .cannotOpen)
    }
  }

  @Test("a text that PostgreSQL cannot keep is told with its table, column and key")
  func zeroCharacters() async throws {
    try await MovePlaces.use { places in
      try await places.file.withStore { try await $0.save("a") }
      try places.file.execute(
        """
        INSERT INTO users (name, folded_name, user_record_name, created)
        VALUES ('b', 'b', 'x' || CHAR(0) || 'y', 1)
        """
      )
      await expectFailure(.statementFailed, "'user_record_name' of table 'users'", "name 'b'") {
        try await StoreMove.run(from: places.file, to: places.postgreSQL)
      }
    }
  }

  private func expectFailure(
    _ code: StoreError.Code, _ texts: String..., sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> StoreMove.Result
  ) async {
    do {
      _ = try await body()
      Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as StoreError {
      #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
      for text in texts {
        #expect(error.reason.contains(text), "\(error)", sourceLocation: sourceLocation)
      }
    } catch {
      Issue.record(error, sourceLocation: sourceLocation)
    }
  }
}

/// Counts the commits of a move.
private final class CommitCounter: @unchecked Sendable {
  // A move commits on one thread.
  private var count = 0

  func next() -> Int {
    count += 1
    return count
  }
}
