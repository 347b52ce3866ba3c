import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

struct SearchPlanTests {
  private struct Step: Sendable {
    var statement: String
    var step: String
  }

  /// A store in memory has one connection, so that all statements are prepared in one place.
  private func plans(
    after searches: (TestStore) async throws -> Void, analyzed: Bool
  ) async throws -> [Step] {
    let store = try await Store.inMemory()
    let test = try await TestStore(store)
    try await searches(test)
    let plans = try await store.transactions.write { transaction -> [Step] in
      if analyzed { try transaction.connection.execute("ANALYZE") }
      guard let connection = transaction.connection as? SQLiteConnection else { return [] }
      let arguments = [SQLValue](repeating: .integer(0), count: 12)
      var steps: [Step] = []
      for text in connection.statements.keys where text.hasPrefix("SELECT") {
        steps += try connection.rows("EXPLAIN QUERY PLAN \(text)", arguments) {
          Step(statement: text, step: $0.text(3))
        }
      }
      return steps
    }
    await store.close()
    return plans
  }

  private static let tables = ["value_index", "records", "tombstones", "zones", "reference_edges"]

  @Test("no statement of a search or a feed walks a whole table", arguments: [false, true])
  func noScan(analyzed: Bool) async throws {
    let plans = try await plans(
      after: { test in
        var samples = QuerySamples(random: SeededGenerator(seed: 1))
        for zone in QuerySamples.zones.dropFirst() { try await test.makeZone(zone.zoneName) }
        for number in 0..<60 {
          let operation = samples.operation(on: "r\(number)", in: QuerySamples.zones)
          _ = try await test.modify([operation], in: test.privateID)
        }
        for _ in 0..<300 {
          var search = RecordQuery(
            query: samples.query(), zoneID: samples.random.pick([nil] + QuerySamples.zones),
            limit: 3)
          search.continuation = try await test.store.records.records(
            matching: search, in: test.privateID
          ).continuation
          _ = try await test.store.records.records(matching: search, in: test.privateID)
        }
        let zone = QuerySamples.zones[1]
        for isReversed in [false, true] {
          _ = try await test.changes(in: zone, isReversed: isReversed)
          _ = try await test.changes(in: zone, isReversed: isReversed, types: ["Note"])
        }
        _ = try await test.zoneChanges()
      }, analyzed: analyzed)
    let searches = plans.filter { $0.step.hasPrefix("SEARCH") }
    for table in ["value_index", "records", "tombstones"] {
      #expect(searches.contains { $0.step.contains(table) }, "\(table) was not asked")
    }
    for plan in plans where plan.step.hasPrefix("SCAN") {
      let table = plan.step.split(separator: " ").dropFirst().first.map(String.init) ?? ""
      // Where statistics say that there are four zones, looking at all is right.
      if analyzed, table == "zones" { continue }
      #expect(!Self.tables.contains(table), "\(plan.step): \(plan.statement)")
    }
    // An order that the index does not give would sort all that is found.
    for plan in plans where plan.step.contains("USE TEMP B-TREE") {
      #expect(
        !plan.statement.contains("value_index") && !plan.statement.contains("FROM records"),
        "\(plan.step): \(plan.statement)")
    }
  }
}
