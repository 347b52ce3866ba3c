import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

/// A store with all kinds of pages, and what can be read from it.
struct StoreSample {
  static let names = (0..<160).map { "n\($0)" }

  /// The parts that are read, as text.
  enum Reading: Hashable, CaseIterable {
    case records
    case query
    case sortedQuery
    case feed
    case subscriptions
    case outbox
    case users
  }

  static func configuration(_ role: StoreConfiguration.Role = .tool) -> StoreConfiguration {
    var configuration = StoreConfiguration(role: role)
    configuration.tuning.cacheKilobytes = 1024
    configuration.readers = 1
    return configuration
  }

  static func fields(_ number: Int) -> RecordFields<RecordValue?> {
    // Some take several pages.
    let length = number % 7 == 0 ? 9_000 : 200 + number * 13 % 900
    return [
      "x": .int64(Int64(number * 31 % 97)),
      "title": .string("note \(number % 11) of many"),
      "text": .bytes(Data(repeating: UInt8(truncatingIfNeeded: number), count: length)),
    ]
  }

  /// Fills a store in this file.
  static func fill(_ path: String) async throws {
    let store = try await Store.open(at: path, configuration: configuration(.server))
    try await fill(store)
    await store.close()
  }

  static func fill(_ store: Store) async throws {
    let test = try await TestStore(store)
    let zone = try await test.makeZone("Zone")
    for number in 0..<30 {
      _ = try await test.subscribe(
        noteSubscription(
          "s\(number)", filters: [Filter(.field("x"), .equals, .int64(Int64(number)))]),
        as: "_user\(number % 4)")
      _ = try await store.accounts.addUser(named: "user\(number)", at: TestStore.time(0))
    }
    let deleted = (0..<200).map { "gone\($0)" }
    for names in [Self.names, deleted] {
      for start in stride(from: 0, to: names.count, by: 40) {
        _ = try await test.modify(
          names[start..<min(names.count, start + 40)].enumerated().map { index, name in
            RecordOperation(
              kind: .create, recordID: RecordID(recordName: name), recordType: "Note",
              fields: fields(start + index))
          })
      }
    }
    for number in 0..<20 {
      try await test.save("z\(number)", fields(number), zone: zone, in: test.privateID)
    }
    _ = try await test.modify(
      deleted.map { RecordOperation(kind: .forceDelete, recordID: RecordID(recordName: $0)) })
  }

  static func read(_ reading: Reading, from store: Store) async throws -> String {
    let test = try await TestStore(store)
    switch reading {
    case .records:
      return
        "\(try await store.records.records(names.map { RecordID(recordName: $0) }, in: test.publicID))"
    case .query, .sortedQuery:
      let query = Query(
        recordType: "Note",
        filters: reading == .query ? [Filter(.field("x"), .lessThan, .int64(40))] : [],
        sortKeys: reading == .query ? [] : [SortKey(.field("x"), ascending: false)])
      let page = try await store.records.records(
        matching: RecordQuery(query: query, zoneID: .default, limit: 200), in: test.publicID)
      return "\(page.records)"
    case .feed:
      let page = try await test.changes(in: ZoneID(zoneName: "Zone"))
      return "\(page.names)"
    case .subscriptions: return "\(try await test.storedSubscriptions())"
    case .outbox: return "\(try await test.outbox().map(\.change))"
    case .users: return "\(try await store.accounts.users())"
    }
  }

  /// All that can be read.
  static func model(of path: String) async throws -> [Reading: String] {
    let store = try await Store.open(at: path, configuration: configuration())
    var model: [Reading: String] = [:]
    for reading in Reading.allCases { model[reading] = try await read(reading, from: store) }
    await store.close()
    return model
  }

  /// The pages of a store by what they are: `leaf`, `internal` and `overflow` of a table or an index, or
  /// `free`.
  static func pages(of path: String) throws -> [String: [Int]] {
    let connection = try SQLiteConnection(path: path)
    defer { connection.close() }
    var kinds: [Int: String] = [:]
    try connection.query("SELECT pageno, pagetype FROM dbstat", []) {
      kinds[Int($0.integer(0))] = $0.text(1)
    }
    let count = try connection.first("PRAGMA page_count", []) { Int($0.integer(0)) } ?? 0
    return Dictionary(grouping: 1...count) { kinds[$0] ?? "free" }
  }

  /// Changes bytes of a file in place.
  static func change(
    _ path: String, at offset: Int, count: Int = 1, _ body: (inout [UInt8]) -> Void
  ) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? file.close() }
    try file.seek(toOffset: UInt64(offset))
    var bytes = [UInt8](try file.read(upToCount: count) ?? Data())
    body(&bytes)
    try file.seek(toOffset: UInt64(offset))
    try file.write(contentsOf: bytes)
  }

  /// Turns a bit over.
  static func flip(_ bit: Int, of path: String) throws {
    try change(path, at: bit / 8) { $0[0] ^= 1 << UInt8(bit % 8) }
  }

  static func size(_ path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }

  static func copy(_ path: String, to target: String, suffixes: [String] = [""]) throws {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: target + suffix)
    }
    for suffix in suffixes {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: target + suffix)
    }
  }
}
