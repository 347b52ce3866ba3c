import CloudKitModel
import PropertyTesting
import StoreModel
import Synchronization
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// Queries beside plain evaluation of their filters on every record.
  struct QueryModel {
    /// Efforts by which so few records are searched in every way that many are.
    static let efforts = [
      SearchEffort(),
      SearchEffort(
        columnShare: 0, listThreshold: 0, fillsCache: true, changeLimit: 3, peek: 1,
        groupLimit: 2,
        fewRecords: 2, absenceLimit: 2),
      SearchEffort(
        recordCost: 1_000, columnShare: 0, listThreshold: 0, fillsCache: false, peek: 1,
        groupLimit: 3,
        fewRecords: 2,
        absenceLimit: 5),
      SearchEffort(
        recordCost: 2, columnShare: 0, listThreshold: 0, fillsCache: true, peek: 4, groupLimit: 2,
        fewRecords: 4,
        absenceLimit: 5),
    ]

    private static func effort(_ seed: Int) -> SearchEffort { efforts[seed % efforts.count] }

    private static func configuring(
      _ seed: Int, _ turns: SearchTurns = SearchTurns()
    ) -> (inout StoreConfiguration) -> Void {
      {
        $0.searchEffort = effort(seed)
        $0.searchEffort.observe = { turns.note($0, asks: $1) }
        $0.searchEffort.observeRanking = { turns.noteRanking() }
      }
    }

    /// The store's records, and the order in which they were made.
    private struct Model {
      var records: [RecordID: Record] = [:]
      var born: [RecordID: Int] = [:]
      private var births = 0

      mutating func apply(_ outcomes: [RecordOutcome]) {
        for outcome in outcomes {
          switch outcome {
          case .saved(let record):
            if records.updateValue(record, forKey: record.recordID) == nil {
              births += 1
              born[record.recordID] = births
            }
          case .deleted(let recordID): records[recordID] = nil
          // A record that is still a parent stays.
          case .failed(let failure) where failure.code == .referenced: break
          case .failed(let failure): Issue.record("\(failure)")
          }
        }
      }

      /// A parent has a new change tag after the save of a child, and is else what it was.
      mutating func raise(_ parent: Record) {
        var expected = records[parent.recordID]
        #expect(expected?.recordChangeTag != parent.recordChangeTag)
        expected?.recordChangeTag = parent.recordChangeTag
        #expect(expected?.modified == parent.modified)
        records[parent.recordID] = expected
      }

      /// Returns the records that a query finds; in order if it has sort keys.
      func answer(_ query: Query, zone: ZoneID?) -> [Record] {
        let found = records.values.filter {
          query.matches($0) && (zone == nil || $0.recordID.zoneID == zone)
        }
        return found.sorted { left, right in
          for sortKey in query.sortKeys {
            switch (sorted(left, sortKey), sorted(right, sortKey)) {
            case (nil, nil): continue
            case (_, nil): return true
            case (nil, _): return false
            case (let leftValue?, let rightValue?):
              let order = leftValue.order(to: rightValue)
              if order == .equal { continue }
              return (order == .less) == sortKey.ascending
            }
          }
          let isOlder = born[left.recordID]! < born[right.recordID]!
          return isOlder == (query.sortKeys.last?.ascending ?? true)
        }
      }

      private func sorted(_ record: Record, _ sortKey: SortKey) -> RecordValue? {
        let value = record.value(for: sortKey.key)
        if let center = sortKey.relativeLocation {
          guard case .location(let place)? = value else { return nil }
          return .double(place.distance(to: center))
        }
        if case .double(let number)? = value, number.isNaN { return nil }
        return value
      }
    }

    private func modify(
      _ operation: RecordOperation, by user: String = TestStore.alice, at seconds: Int64,
      in database: DatabaseID, of test: TestStore, _ model: inout Model
    ) async throws {
      let outcomes = try await test.modify([operation], in: database, by: user, at: seconds)
      model.apply(outcomes)
      // There are no hierarchies in a public database.
      guard database == test.privateID, let child = outcomes[0].record, let parent = child.parent
      else { return }
      let parentID = RecordID(recordName: parent.recordName, zoneID: child.recordID.zoneID)
      let raised = try await test.store.records.records([parentID], in: database)[0]
      model.raise(try #require(raised))
    }

    private func filled(
      _ test: TestStore, _ samples: inout QuerySamples, records: Int, in database: DatabaseID
    ) async throws -> Model {
      var model = Model()
      let zones: [ZoneID] = database == test.publicID ? [.default] : QuerySamples.zones
      if zones.count > 1 {
        for zone in zones.dropFirst() { try await test.makeZone(zone.zoneName) }
      }
      for number in 0..<records {
        var operation = samples.operation(on: "r\(number % 40)", in: zones)
        if database == test.publicID {
          operation.encryptedFields = []
          for name in QuerySamples.encrypted { operation.fields[name] = nil }
        }
        let parent = RecordID(recordName: "r0", zoneID: operation.recordID.zoneID)
        if number % 5 == 1, model.records[parent] != nil, operation.recordID != parent {
          operation.parent = Reference(recordName: parent.recordName)
        }
        try await modify(
          operation, by: number % 3 == 0 ? TestStore.bob : TestStore.alice, at: Int64(number / 3),
          in: database, of: test, &model)
        if number % 7 == 6 {
          let ids = model.records.keys.sorted { $0.description < $1.description }
          let victim = samples.random.pick(ids)
          model.apply([
            try await test.delete(victim.recordName, zone: victim.zoneID, in: database)
          ])
        }
      }
      return model
    }

    private func pages(
      of query: Query, zone: ZoneID?, size: Int, in database: DatabaseID, of test: TestStore,
      _ comment: Comment, between: (([Record]) async throws -> Void)? = nil
    ) async throws -> [Record] {
      var search = RecordQuery(query: query, zoneID: zone, limit: size)
      var found: [Record] = []
      repeat {
        let page = try await test.store.records.records(matching: search, in: database)
        #expect(page.continuation == nil || page.records.count == size, comment)
        #expect(page.records.count <= size, comment)
        found += page.records
        search.continuation = page.continuation
        try await between?(page.records)
      } while search.continuation != nil
      return found
    }

    @Test(
      "every page, of every size, is that of the plain evaluation",
      arguments: StoreEngine.reading, Seeds.some(4))
    func answers(_ engine: StoreEngine, _ seed: Int) async throws {
      _ = try await waysOfAnswering(engine, seed, queries: 8)
    }

    // The same seeds in each run: which way is taken depends on the queries that chance makes.
    @Test("some of these queries take each way to search", arguments: 0..<4)
    func ways(_ seed: Int) async throws {
      let counts = try await waysOfAnswering(.sqliteFile, seed, queries: 15)
      #expect(counts.walking > 0 && counts.collecting > 0, "\(counts)")
      // Of others, entries that are made beside may leave nothing to be asked or gathered.
      if seed % Self.efforts.count == 1 {
        #expect(counts.asking > 0 || counts.gathering > 0, "\(counts)")
      }
      #expect(counts.ranking > 0 || !Self.effort(seed).fillsCache, "\(counts)")
    }

    /// Compares the answers to queries that a seed makes, and counts how they were searched.
    private func waysOfAnswering(
      _ engine: StoreEngine, _ seed: Int, queries: Int
    ) async throws -> SearchTurns.Counts {
      let turns = SearchTurns()
      try await engine.withStore(configure: Self.configuring(seed, turns)) { test in
        var samples = QuerySamples(random: SeededGenerator(seed: seed))
        let database =
          seed / Self.efforts.count % 2 == 0 ? test.privateID : test.publicID
        let model = try await filled(test, &samples, records: 90, in: database)
        for number in 0..<queries {
          let query = samples.query()
          let zone = samples.random.pick(
            database == test.publicID ? [nil, .default] : [nil, nil] + QuerySamples.zones)
          let expected = model.answer(query, zone: zone)
          let comment: Comment = "seed \(seed), query \(number), zone \(zone as Any): \(query)"
          let whole = try await pages(
            of: query, zone: zone, size: 200, in: database, of: test, comment)
          if query.sortKeys.isEmpty {
            #expect(whole.map(\.state).sorted() == expected.map(\.state).sorted(), comment)
          } else {
            #expect(whole.map(\.state) == expected.map(\.state), comment)
          }
          // The edges, and a size that chance picks.
          let sizes = [
            1, 2, expected.count, .random(in: 1...max(1, expected.count), using: &samples.random),
          ]
          for size in Set(sizes).sorted() where size > 0 {
            let paged = try await pages(
              of: query, zone: zone, size: size, in: database, of: test, comment)
            // Without an order another way may be taken, once entries were made beside.
            let mayDiffer = query.sortKeys.isEmpty && !Self.effort(seed).fillsCache
            let found = [paged, whole].map { $0.map(\.state) }.map { mayDiffer ? $0.sorted() : $0 }
            #expect(found[0] == found[1], "pages of \(size), \(comment)")
          }
        }
      }
      return turns.counts
    }

    @Test(
      "records that stay as they are come once, whatever becomes of the others between pages",
      arguments: StoreEngine.reading, Seeds.some(4))
    func changesBetweenPages(_ engine: StoreEngine, _ seed: Int) async throws {
      let turns = SearchTurns()
      try await engine.withStore(configure: Self.configuring(seed, turns)) { test in
        var samples = QuerySamples(random: SeededGenerator(seed: seed))
        var model = try await filled(test, &samples, records: 60, in: test.privateID)
        for number in 0..<40 {
          let query = samples.query()
          let zone = samples.random.pick([nil] + QuerySamples.zones)
          let comment: Comment = "seed \(seed), query \(number), zone \(zone as Any): \(query)"
          let before = model.answer(query, zone: zone)
          var changed: Set<RecordID> = []
          let found = try await pages(
            of: query, zone: zone, size: Int.random(in: 1...4, using: &samples.random),
            in: test.privateID, of: test, comment
          ) { page in
            for record in page {
              #expect(model.records[record.recordID]?.state == record.state, comment)
              #expect(query.matches(record), comment)
            }
            // Not for ever, or records would be made faster than they are read.
            guard changed.count < 30 else { return }
            for _ in 0..<2 {
              var operation = samples.operation(
                on: "r\(Int.random(in: 0..<40, using: &samples.random))", in: QuerySamples.zones)
              if samples.random.chance(1, in: 3) { operation.kind = .forceDelete }
              changed.insert(operation.recordID)
              try await modify(operation, at: 100, in: test.privateID, of: test, &model)
            }
          }
          let unchanged = found.map(\.recordID).filter { !changed.contains($0) }
          #expect(Set(unchanged).count == unchanged.count, comment)
          #expect(
            Set(unchanged) == Set(before.map(\.recordID)).subtracting(changed), comment)
        }
      }
      let hasColumns = engine == .sqliteFile && Self.effort(seed).fillsCache
      #expect(turns.counts.ranking > 0 || !hasColumns, "seed \(seed): \(turns.counts)")
    }
  }
}

extension Record {
  /// Names the record as it is now; a NaN in it would make the record differ from itself.
  fileprivate var state: String { "\(recordID) \(recordChangeTag ?? "")" }
}

/// Counts what searches did, so that a test knows that it reached every way.
private final class SearchTurns: Sendable {
  struct Counts {
    var walking = 0
    var asking = 0
    var gathering = 0
    var collecting = 0
    var ranking = 0
  }

  private let state = Mutex(Counts())

  var counts: Counts { state.withLock { $0 } }

  func noteRanking() { state.withLock { $0.ranking += 1 } }

  func note(_ step: SearchPlan.Step, asks: Bool) {
    state.withLock { counts in
      switch step {
      case .walk where asks: counts.asking += 1
      case .walk: counts.walking += 1
      case .gather: counts.gathering += 1
      case .collect: counts.collecting += 1
      }
    }
  }
}
