import CloudKitModel
import Testing

@testable import Storage

@Suite("Searches over a store's file")
struct SearchFileTests {
  private func open(_ path: String) async throws -> SQLRecordStore {
    var configuration = StoreConfiguration()
    configuration.tuning.cacheKilobytes = 4096
    return try await SQLRecordStore.open(at: path, configuration: configuration)
  }

  @Test("a marker leads on after the store was closed and opened again")
  func markersLast() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let searches = [[], [SortKey(.field("k"), ascending: false)]].map { sortKeys in
        RecordQuery(
          query: Query(
            recordType: "Note", filters: [Filter(.field("k"), .greaterThan, .int64(2))],
            sortKeys: sortKeys), zoneID: .default, limit: 2)
      }
      var found = [[String]](repeating: [], count: searches.count)
      var markers: [String?] = searches.map { _ in nil }
      for round in 0..<4 {
        let store = try await open(path)
        let test = try await TestStore(store)
        if round == 0 {
          for number in 0..<10 { try await test.save("n\(number)", ["k": .int64(Int64(number))]) }
        }
        for (index, search) in searches.enumerated() {
          var search = search
          search.continuation = markers[index]
          let page = try await store.records(matching: search, in: test.publicID)
          found[index] += page.records.map(\.recordID.recordName)
          markers[index] = page.continuation
        }
        await store.close()
      }
      #expect(found == [(3...9).map { "n\($0)" }, (3...9).reversed().map { "n\($0)" }])
      #expect(markers == [nil, nil])
    }
  }

  @Test("a store from before words and places were indexed as now is brought up to it")
  func migration() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      let here = Location(latitude: -18.13, longitude: 178.44)
      let store = try await open(path)
      let test = try await TestStore(store)
      try await test.save("a", ["title": .string("deep sea"), "place": .location(here)])
      try await test.save(
        "b",
        [
          "title": .string("sea"),
          "places": .list(
            of: .location, [.location(here), .location(Location(latitude: 1, longitude: 2))]),
        ])
      try await store.write { session in
        // As it was: no words, and places by band and longitude alone.
        let connection = session.connection
        try connection.execute("DELETE FROM value_index WHERE field_number < 0")
        try connection.execute(
          """
          UPDATE value_index SET value_key = substr(value_key, 1, 6) WHERE field_number IN (
            SELECT field_number FROM record_fields WHERE value_type LIKE 'LOCATION%')
          """)
        try Schema.fillTextIndex(connection)
      }
      func names(_ query: Query) async throws -> [String] {
        try await test.store.records(
          matching: RecordQuery(query: query, zoneID: nil, limit: 10), in: test.publicID
        ).records.map(\.recordID.recordName).sorted()
      }
      let deep = Filter(.field("title"), .containsAllTokens, .string("deep"))
      #expect(try await names(Query(recordType: "Note", filters: [deep])) == ["a"])
      let near = Filter(.field("place"), .near, .location(here), distance: 10)
      #expect(try await names(Query(recordType: "Note", filters: [near])) == ["a"])
      let holds = Filter(.field("places"), .listContains, .location(here))
      #expect(try await names(Query(recordType: "Note", filters: [holds])) == ["b"])
      let sortKey = SortKey(.field("place"), relativeLocation: here)
      #expect(try await names(Query(recordType: "Note", sortKeys: [sortKey])) == ["a", "b"])
      for name in ["a", "b"] { _ = try await test.delete(name) }
      let left = try await store.read { session in
        try session.connection.first("SELECT COUNT(*) FROM value_index", []) { $0.integer(0) }
      }
      #expect(left == 0)
      await store.close()
    }
  }
}
