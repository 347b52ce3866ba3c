import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  /// Tests of a caller's answers from two stores: one has records that the caller may not read, and
  /// the other does not.
  struct HiddenRecords {
    private static let authors = [TestStore.alice, TestStore.bob, "_carol"]
    private static let own = RecordGrants([
      RecordGrants.SystemRole.creator: [.read, .write],
      RecordGrants.SystemRole.icloud: .create, "Editor": [.read, .write],
    ])

    /// Whether the index has the creators of records.
    enum Creators: CaseIterable {
      case byOption
      case byGrants
      /// It is to have them, and has not got them yet.
      case notYet
    }

    private static func schema(_ grants: RecordGrants, _ creators: Creators) -> ContainerSchema {
      var system = SystemField.implicitIndexes
      if creators != .byOption { system[.createdUserRecordName] = nil }
      var type = ContainerSchema.RecordType(systemIndexes: system, grants: grants)
      for (name, fieldType) in QuerySamples.types where !QuerySamples.encrypted.contains(name) {
        type.fields[name] = .init(fieldType, indexes: .implicit(for: fieldType))
      }
      return ContainerSchema(roles: ["Editor"], recordTypes: ["Note": type, "Other": .implicit])
    }

    /// The servers that have the store open.
    enum Servers: CustomTestStringConvertible {
      case one(StoreEngine)
      /// One server saves, and the other is asked.
      case two

      static var all: [Servers] { StoreEngine.reading.map(Servers.one) + [.two] }

      var testDescription: String {
        switch self {
        case .one(let engine): engine.rawValue
        case .two: "two servers"
        }
      }

      func withStores(
        configure: (inout StoreConfiguration) -> Void,
        _ body: (_ test: TestStore, _ writer: TestStore) async throws -> Void
      ) async throws {
        switch self {
        case .one(let engine):
          try await engine.withStore(configure: configure) { try await body($0, $0) }
        case .two:
          try await ServerGroup.with(servers: 2) {
            $0.tokens = TokenCipher(secret: Array(repeating: 0x5E, count: 32))
            configure(&$0)
          } _: {
            try await body($0.servers[0], $0.servers[1])
          }
        }
      }
    }

    /// One of the two stores.
    private struct World {
      let test: TestStore
      /// Another server of the store, or the same.
      let writer: TestStore
      let isFull: Bool

      /// Makes, changes and deletes records of three users. The random operations are the same in both
      /// worlds, but in one those on records that Alice may not read are left out.
      func change(_ count: Int, _ samples: inout QuerySamples) async throws {
        for step in 0..<count {
          let number = Int.random(in: 0..<40, using: &samples.random)
          let author = HiddenRecords.authors[number % 3]
          var operation = samples.operation(on: "r\(number)", in: [.default])
          for name in QuerySamples.encrypted { operation.fields[name] = nil }
          operation.encryptedFields = []
          if samples.random.chance(1, in: 7) { operation.kind = .forceDelete }
          let isHidden = author != TestStore.alice && operation.recordType == "Note"
          guard isFull || !isHidden else { continue }
          let outcome = try await writer.modify([operation], by: author, at: Int64(step / 3))[0]
          if case .failed(let failure) = outcome { Issue.record("\(failure)") }
        }
      }
    }

    /// Runs `body` in both worlds, and returns what it returned.
    private func inBothWorlds<Answer>(
      _ servers: Servers, _ seed: Int, _ creators: Creators,
      _ body: (World, inout QuerySamples) async throws -> Answer
    ) async throws -> [Answer] {
      var answers: [Answer] = []
      for isFull in [false, true] {
        let effort = QueryModel.efforts[seed % QueryModel.efforts.count]
        func configure(_ configuration: inout StoreConfiguration) {
          configuration.searchEffort = effort
        }
        try await servers.withStores(configure: configure) { test, writer in
          let world = World(test: test, writer: writer, isFull: isFull)
          var samples = QuerySamples(random: SeededGenerator(seed: seed))
          func use(_ schema: ContainerSchema) async throws {
            let outcome = try await writer.store.schemas.importSchema(
              schema, of: TestStore.container, isDryRun: false)
            #expect(outcome.refusals.isEmpty)
          }
          try await use(Self.schema(creators == .notYet ? .standard : Self.own, creators))
          try await world.change(120, &samples)
          if creators == .notYet {
            var schema = try await writer.store.schemas.schema(
              of: TestStore.container, in: .development)
            schema.recordTypes["Note"]?.grants = Self.own
            try await use(schema)
          }
          answers.append(try await body(world, &samples))
        }
      }
      return answers
    }

    // MARK: Queries

    /// Returns a record without the parts that depend on other changes of the database.
    private static func content(_ record: Record) -> [UInt8] {
      var encoder = RowEncoder()
      var record = record
      record.recordChangeTag = nil
      encoder.encode(record)
      return encoder.bytes
    }

    private func pages(
      of query: Query, zone: ZoneID?, size: Int, _ test: TestStore
    ) async throws -> (pages: [String], records: [Record]) {
      var search = RecordQuery(
        query: query, zoneID: zone, limit: size, caller: .user(userRecordName: TestStore.alice))
      var pages: [String] = []
      var records: [Record] = []
      do {
        repeat {
          let page = try await test.store.records.records(matching: search, in: test.publicID)
          #expect(page.continuation == nil || page.records.count == size)
          search.continuation = page.continuation
          records += page.records
          pages.append(
            "\(page.records.map(Self.content)) \(page.continuation?.count ?? 0)")
        } while search.continuation != nil
      } catch let failure as ItemFailure {
        pages.append("\(failure.code) \(failure.reason)")
      }
      return (pages, records)
    }

    @Test(
      "every page of every query is the same whether there are such records or not",
      arguments: Servers.all, Seeds.some(2))
    func queries(_ servers: Servers, _ seed: Int) async throws {
      let creators = Creators.allCases[seed % 3]
      var found = 0
      let worlds = try await inBothWorlds(servers, seed, creators) { world, samples in
        if creators == .byGrants {
          while try await world.test.store.maintenance.continueIndexWork() != nil {}
        }
        let mine = try await world.test.store.records.records(
          (0..<40).map { RecordID(recordName: "r\($0)") }, in: world.test.publicID
        ).compactMap { $0 }.filter { $0.created?.userRecordName == TestStore.alice }
        var answers: [(Query, [String])] = []
        // Records that are named are found without the index of creators.
        let named = Query(
          recordType: "Note",
          filters: [
            Filter(
              .system(.recordName), .isIn,
              .list(of: .string, (0..<40).map { .string("r\($0)") }))
          ])
        for number in 0..<16 {
          let query = number == 0 ? named : samples.query()
          let zone = samples.random.pick([nil, ZoneID.default])
          let sizes = [Int.random(in: 1...5, using: &samples.random), 200]
          for size in sizes {
            let (pages, records) = try await pages(
              of: query, zone: zone, size: size, world.test)
            answers.append((query, pages))
            found += records.count
            guard !pages.contains(where: { $0.hasPrefix("invalid") }) else { continue }
            let names = mine.filter { query.matches($0) }.map(\.recordID.recordName)
            #expect(
              records.map(\.recordID.recordName).sorted() == names.sorted(),
              "seed \(seed), query \(number): \(query)")
          }
        }
        return answers
      }
      #expect(found > 50)
      for (without, with) in zip(worlds[0], worlds[1]) {
        #expect(without.1 == with.1, "seed \(seed): \(without.0)")
      }
    }

    // MARK: Change feeds

    /// All pages of a feed, and where to go on.
    private func pages(
      _ query: RecordChangesQuery, _ test: TestStore
    ) async throws -> (pages: [String], token: String) {
      var query = query
      var pages: [String] = []
      while true {
        let page = try await test.store.changeFeeds.recordChanges(
          matching: query, in: test.publicID)
        query.token = page.token
        let changes = page.changes.map { change in
          switch change {
          case .saved(let record): "saved \(Self.content(record))"
          case .deleted(let recordID, let type): "deleted \(recordID) \(type)"
          }
        }
        pages.append("\(changes) \(page.token.count) \(page.hasMore) \(page.size)")
        if !page.hasMore { return (pages, page.token) }
      }
    }

    @Test(
      "every page of the zone's feed is the same, whoever reads and from wherever",
      arguments: Servers.all, Seeds.some(2))
    func feeds(_ servers: Servers, _ seed: Int) async throws {
      let creators = Creators.allCases[seed % 3]
      let worlds = try await inBothWorlds(servers, seed, creators) { world, samples in
        if creators == .byGrants {
          while try await world.test.store.maintenance.continueIndexWork() != nil {}
        }
        var answers: [String] = []
        var tokens: [String?] = [nil]
        for round in 0..<3 {
          for (reader, types, isReversed) in [
            (TestStore.alice, nil, false), (TestStore.alice, ["Note"], false),
            (TestStore.alice, ["Other"], true), (TestStore.alice, nil, true), (nil, nil, false),
            (nil, ["Note"], false),
          ] as [(String?, Set<String>?, Bool)] {
            for token in tokens {
              let query = RecordChangesQuery(
                zoneID: .default, token: token,
                limit: Int.random(in: 2...9, using: &samples.random),
                sizeLimit: samples.random.pick([.max, 600]), isReversed: isReversed,
                recordTypes: types, caller: .user(named: reader))
              answers += try await pages(query, world.test).pages
            }
          }
          let whole = RecordChangesQuery(
            zoneID: .default, caller: .user(userRecordName: TestStore.alice))
          tokens.append(try await pages(whole, world.test).token)
          // Hidden changes alone, and then all kinds.
          if round == 1, world.isFull { try await world.writer.save("h", by: TestStore.bob) }
          if round == 0 { try await world.change(40, &samples) }
        }
        return answers
      }
      #expect(worlds[0].count > 50)
      #expect(worlds[0] == worlds[1], "seed \(seed)")
    }

    @Test(
      "a token of the public feed tells nobody whether others changed something",
      arguments: StoreEngine.reading)
    func tokens(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.save("a")
        let query = RecordChangesQuery(zoneID: .default)
        var tokens: Set<String> = []
        for _ in 0..<3 { tokens.insert(try await pages(query, test).token) }
        #expect(tokens.count == 3)
      }
    }
  }
}
