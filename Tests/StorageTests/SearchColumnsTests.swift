import CloudKitModel
import Dispatch
import Synchronization
import Testing

@testable import Storage

@Suite("Searches by columns of keys")
struct SearchColumnsTests {
  /// Efforts by which columns are made at once, and used.
  private static func effort(_ rankings: Rankings) -> SearchEffort {
    var effort = SearchEffort(rankCost: 0, columnShare: 0, peek: 100, interval: 1)
    effort.observeRanking = { rankings.count.add(1, ordering: .relaxed) }
    return effort
  }

  private final class Rankings: Sendable {
    let count = Atomic(0)
  }

  private func withFilledStore(
    memory: Int = 16, _ body: (SQLRecordStore, TestStore, Rankings) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let rankings = Rankings()
      var configuration = StoreConfiguration()
      configuration.tuning.cacheKilobytes = 4096
      configuration.tuning.columnMegabytes = memory
      configuration.searchEffort = Self.effort(rankings)
      let store = try await SQLRecordStore.open(
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
    try await test.store.records(
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
      async let older = store.read { session -> [String] in
        // The transaction has read the schema's version, and sees the store as it was then.
        seen.signal()
        changed.wait()
        let search = try RecordSearch(
          RecordQuery(query: Self.query, zoneID: nil, limit: 3), in: database,
          at: try session.address(of: database), session: session, effort: effort)
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
