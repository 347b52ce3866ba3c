import CloudKitModel
import Foundation
import StoreModel
import Testing

@testable import Storage

struct CourierEntryCacheTests {
  /// Three log entries that a reader has not read.
  private func entries(_ test: TestStore) async throws -> [LogEntry] {
    _ = try await test.subscribe(noteSubscription("s"))
    try await test.register("web", kind: .courier)
    for name in ["a", "b", "c"] { try await test.save(name) }
    try await test.dispatch()
    return try await test.store.courier.courierEntries(
      forToken: "web", after: CourierPosition(), limit: 3
    ).map(\.entry)
  }

  @Test("an entry is read once and encoded once, until more bytes than the limit came after it")
  func generations() async throws {
    try await ServerGroup.with(servers: 1) { group in
      let entries = try await entries(group.servers[0])
      try #require(entries.count == 3)
      let cache = CourierEntryCache(bytes: 20)
      var reads = 0
      func read(_ number: Int) -> LogEntry {
        cache.entry(entries[number].sequence, in: entries[number].database) {
          reads += 1
          return (entries[number], 4)
        }
      }
      #expect(read(0) == entries[0] && read(0) == entries[0])
      #expect(reads == 1)
      var encodings = 0
      for _ in 1...2 {
        let payload = cache.payload(of: entries[0]) {
          encodings += 1
          return Data("abc".utf8)
        }
        #expect(payload == Data("abc".utf8))
      }
      #expect(encodings == 1)
      // 4 + 3 + 4 bytes make the young generation old.
      #expect(read(1) == entries[1])
      #expect(read(0) == entries[0])
      #expect(reads == 2)
      #expect(read(2) == entries[2])
      #expect(read(2) == entries[2])
      #expect(reads == 3)
      // Entry 1 was of the generation that was dropped.
      #expect(read(1) == entries[1])
      #expect(reads == 4)
      // A payload of an entry that the cache lacks is not kept.
      _ = CourierEntryCache(bytes: 0).payload(of: entries[0]) {
        encodings += 1
        return Data()
      }
      #expect(encodings == 2)
    }
  }

  @Test("what readers share is each one's own where it differs: its badge, its device's changes")
  func sharing() async throws {
    try await ServerGroup.with(servers: 1) { group in
      let test = group.servers[0]
      _ = try await test.subscribe(noteSubscription("s", badge: true))
      try await test.register("one", kind: .courier)
      for name in ["a", "b"] { try await test.save(name) }
      try await test.dispatch()
      let courier = test.store.courier
      let first = try #require(
        try await courier.courierEntries(forToken: "one", after: CourierPosition(), limit: 1).first)
      try await courier.acknowledgeCourierEntries([first.entry], forToken: "one")
      try await test.register("two", kind: .courier)
      try await test.save("c")
      try await test.dispatch()
      func badges(_ token: String) async throws -> [Int?] {
        try await courier.courierEntries(forToken: token, after: CourierPosition(), limit: 9)
          .map(\.badge)
      }
      #expect(try await badges("one") == [2, 3])
      #expect(try await badges("two") == [1])
    }
  }
}
