import CloudKitModel
import Dispatch
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import Storage

struct CachedSearchTests {
  /// Efforts by which entries are made at once, and used.
  private static func effort(_ rankings: Rankings) -> SearchEffort {
    var effort = SearchEffort(
      rankCost: 0, columnShare: 0, listThreshold: 0, fillsCache: true, peek: 100)
    effort.observeRanking = { rankings.count.add(1, ordering: .relaxed) }
    return effort
  }

  private final class Rankings: Sendable {
    let count = Atomic(0)
  }

  private func withFilledStore(
    memory: Int = 16, effort: (Rankings) -> SearchEffort = effort,
    _ body: (Store, TestStore, Rankings) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let rankings = Rankings()
      var configuration = StoreConfiguration()
      configuration.tuning.cacheKilobytes = 4096
      configuration.tuning.searchCacheBytes = memory << 20
      configuration.searchEffort = effort(rankings)
      let store = try await Store.open(
        at: directory + "/a.sqlite", configuration: configuration)
      let test = try await TestStore(store)
      for number in 0..<8 {
        try await test.save("n\(number)", ["k": .int64(Int64(number)), "is": .string("x")])
      }
      // The order puts these before those that match.
      _ = try await test.modify(
        (0..<100).map { number in
          RecordOperation(
            kind: .create, recordID: RecordID(recordName: "other\(number)"), recordType: "Note",
            fields: ["k": .int64(1_000), "is": .string("y")])
        })
      try await body(store, test, rankings)
      await store.close()
    }
  }

  private static let query = Query(
    recordType: "Note", filters: [Filter(.field("is"), .equals, .string("x"))],
    sortKeys: [SortKey(.field("k"), ascending: false)])

  private func names(_ test: TestStore) async throws -> [String] {
    try await test.store.records.records(
      matching: RecordQuery(query: Self.query, zoneID: nil, limit: 3), in: test.publicID
    ).records.map(\.recordID.recordName)
  }

  @Test("what is changed, made and deleted is followed")
  func changes() async throws {
    try await withFilledStore { _, test, rankings in
      #expect(try await names(test) == ["n7", "n6", "n5"])
      try await test.save("n2", ["k": .int64(100)])
      #expect(try await names(test) == ["n2", "n7", "n6"])
      try await test.save("new", ["k": .int64(50), "is": .string("x")])
      try await test.save("n2", ["k": nil])
      #expect(try await names(test) == ["new", "n7", "n6"])
      _ = try await test.delete("n7")
      #expect(try await names(test) == ["new", "n6", "n5"])
      #expect(rankings.count.load(ordering: .relaxed) == 4)
    }
  }

  @Test("a reader that sees an older state does without a newer column")
  func olderState() async throws {
    try await withFilledStore { store, test, rankings in
      #expect(try await names(test) == ["n7", "n6", "n5"])
      let (seen, changed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let database = test.publicID
      let effort = Self.effort(rankings)
      async let older = store.transactions.read { transaction -> [String] in
        // The transaction has read the schema's version, and sees the store as it was then.
        seen.signal()
        changed.wait()
        let search = try RecordSearch(
          RecordQuery(query: Self.query, zoneID: nil, limit: 3), in: database,
          at: try DatabaseTable(transaction: transaction).address(of: database),
          transaction: transaction,
          effort: effort)
        return try search?.run().records.map(\.recordID.recordName) ?? []
      }
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          seen.wait()
          continuation.resume()
        }
      }
      try await test.save("n7", ["k": nil])
      try await test.save("n0", ["k": .int64(100)])
      #expect(try await names(test) == ["n0", "n6", "n5"])
      changed.signal()
      let olderNames = try await older
      #expect(olderNames == ["n7", "n6", "n5"])
      #expect(try await names(test) == ["n0", "n6", "n5"])
      #expect(rankings.count.load(ordering: .relaxed) == 3)
    }
  }

  @Test("the records of a word and of a value are followed, those that are deleted too")
  func lists() async throws {
    try await withFilledStore { store, test, _ in
      let query = Query(
        recordType: "Note",
        filters: [
          Filter(.field("is"), .equals, .string("x")),
          Filter(.field("text"), .containsAllTokens, .string("deep sea")),
        ], sortKeys: [SortKey(.field("k"))])
      func names(zone: ZoneID? = nil) async throws -> [String] {
        try await test.store.records.records(
          matching: RecordQuery(query: query, zoneID: zone, limit: 10), in: test.publicID
        ).records.map(\.recordID.recordName)
      }
      for name in ["n1", "n3", "n5"] {
        try await test.save(name, ["text": .string("the deep sea")])
      }
      #expect(try await names() == ["n1", "n3", "n5"])
      #expect(store.searchCache.counts.lists >= 3)
      let made = store.searchCache.counts.made
      try await test.save("n3", ["text": .string("the sea")])
      try await test.save("n4", ["text": .string("a sea, and deep")])
      #expect(try await names() == ["n1", "n4", "n5"])
      try await test.save("n5", ["is": .string("y")])
      _ = try await test.delete("n1")
      try await test.save("n1", ["k": .int64(9), "is": .string("x")])
      #expect(try await names() == ["n4"])
      _ = try await test.delete("n4")
      #expect(try await names() == [])
      #expect(store.searchCache.counts.made == made)
      #expect(store.searchCache.counts.givenUp == 0)
    }
  }

  @Test("what searches want is made beside them, and then used")
  func makingBeside() async throws {
    let effort = { (rankings: Rankings) in
      var effort = Self.effort(rankings)
      effort.fillsCache = false
      return effort
    }
    try await withFilledStore(effort: effort) { store, test, rankings in
      try await eventually("a search uses it") {
        let found = try await names(test)
        #expect(found == ["n7", "n6", "n5"])
        return rankings.count.load(ordering: .relaxed) > 0
      }
      #expect(rankings.count.load(ordering: .relaxed) == 1)
      let counts = store.searchCache.counts
      #expect(counts.columns > 0 && counts.made > 0 && counts.size > 0)
      try await test.save("n2", ["k": .int64(100)])
      #expect(try await names(test) == ["n2", "n7", "n6"])
    }
  }

  @Test("one more order than may wait is refused, and may be given again")
  func tooManyOrders() {
    let cache = SearchCache(limit: 1 << 20)
    let queue = JobQueue(limit: 1, role: "entries of the search cache")
    let names = (Int64(1)...2).map {
      SearchCacheEntry.Name(database: DatabaseID(rawValue: 1), field: $0)
    }
    for name in names {
      #expect(cache.isWorthMaking(name, for: 0))
      queue.add(SearchCacheFill(of: name, for: cache))
    }
    #expect(!cache.isWorthMaking(names[0], for: 0))
    #expect(cache.isWorthMaking(names[1], for: 0))
  }

  @Test("without memory for columns there are none")
  func noMemory() async throws {
    try await withFilledStore(memory: 0) { _, test, rankings in
      for _ in 0..<3 {
        let names = try await names(test)
        #expect(names == ["n7", "n6", "n5"])
      }
      #expect(rankings.count.load(ordering: .relaxed) == 0)
    }
  }
}
