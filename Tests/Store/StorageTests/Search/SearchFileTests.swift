import CloudKitModel
import StoreModel
import Testing

@testable import Storage

struct SearchFileTests {
  private func open(_ path: String) async throws -> Store {
    var configuration = StoreConfiguration()
    configuration.tuning.cacheKilobytes = 4096
    return try await Store.open(at: path, configuration: configuration)
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
          let page = try await store.records.records(matching: search, in: test.publicID)
          found[index] += page.records.map(\.recordID.recordName)
          markers[index] = page.continuation
        }
        await store.close()
      }
      #expect(found == [(3...9).map { "n\($0)" }, (3...9).reversed().map { "n\($0)" }])
      #expect(markers == [nil, nil])
    }
  }
}
