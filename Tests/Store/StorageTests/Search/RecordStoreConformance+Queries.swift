import CloudKitModel
import Storage
import StoreModel
import Testing

extension RecordStoreConformance {
  struct Queries {
    static let engines = StoreEngine.reading

    private func names(
      _ test: TestStore, _ filters: [Filter] = [], sortedBy sortKeys: [SortKey] = [],
      zone: ZoneID? = nil, pages size: Int = 200, in database: DatabaseID? = nil
    ) async throws -> [String] {
      let query = Query(recordType: "Note", filters: filters, sortKeys: sortKeys)
      var names: [String] = []
      var continuation: String?
      repeat {
        let page = try await test.store.records.records(
          matching: RecordQuery(
            query: query, zoneID: zone, limit: size, continuation: continuation),
          in: database ?? test.publicID)
        names += page.records.map(\.recordID.recordName)
        #expect(page.records.count == size || page.continuation == nil)
        continuation = page.continuation
      } while continuation != nil
      return names
    }

    @Test("filters find exactly the records that pass, page after page", arguments: engines)
    func filters(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for number in 0..<10 {
          try await test.save(
            "n\(number)",
            [
              "size": .int64(Int64(number)), "title": .string("t\(number % 3)"),
              "tags": .list(of: .string, [.string("x\(number % 2)"), .string("all")]),
              "place": .location(Location(latitude: Double(number), longitude: 179.9)),
            ], by: number < 5 ? TestStore.alice : TestStore.bob)
        }
        try await test.save("other", type: "Other", ["size": .int64(3)])
        let center = RecordValue.location(Location(latitude: 2, longitude: -179.9))
        let cases: [([Filter], [Int])] = [
          ([], Array(0..<10)),
          ([Filter(.field("size"), .equals, .double(3))], [3]),
          ([Filter(.field("size"), .lessThan, .double(2.5))], [0, 1, 2]),
          ([Filter(.field("size"), .greaterThanOrEquals, .int64(8))], [8, 9]),
          (
            [Filter(.field("title"), .isIn, .list(of: .string, [.string("t1"), .string("t2")]))],
            [1, 2, 4, 5, 7, 8]
          ),
          ([Filter(.field("title"), .beginsWith, .string("t"))], Array(0..<10)),
          ([Filter(.field("tags"), .listContains, .string("x1"))], [1, 3, 5, 7, 9]),
          (
            [
              Filter(
                .field("tags"), .listContainsAny,
                .list(of: .string, [.string("all"), .string("x0")]))
            ], Array(0..<10)
          ),
          ([Filter(.field("tags"), .listMemberBeginsWith, .string(""))], Array(0..<10)),
          ([Filter(.field("place"), .near, center, distance: 120_000)], [1, 2, 3]),
          ([Filter(.field("size"), .notEquals, .int64(0))], Array(1..<10)),
          (
            [
              Filter(.system(.createdUserRecordName), .equals, .string(TestStore.bob)),
              Filter(.field("size"), .lessThan, .int64(7)),
            ], [5, 6]
          ),
          (
            [
              Filter(
                .system(.recordName), .isIn,
                .list(of: .string, ["n3", "n1", "x"].map { .string($0) }))
            ], [1, 3]
          ),
          (
            [Filter(.field("title"), .equals, .string("T1"), options: .caseInsensitive)], [1, 4, 7]
          ),
          ([Filter(.field("unknown"), .equals, .int64(1))], []),
          ([Filter(.field("unknown"), .notEquals, .int64(1))], Array(0..<10)),
          ([Filter(.field("title"), .equals, nil)], []),
          ([.never], []),
        ]
        for (filters, expected) in cases {
          for size in [1, 3, 200] {
            let found = try await names(test, filters, pages: size)
            #expect(found.sorted() == expected.map { "n\($0)" }, "\(filters), pages of \(size)")
          }
        }
      }
    }

    @Test("zones limit a query, and without one all are searched", arguments: engines)
    func zones(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        for name in ["a", "b"] { try await test.save(name, zone: zone, in: test.privateID) }
        try await test.save("b", in: test.privateID)
        try await test.save("c", in: test.privateID)
        let byName = [
          Filter(.system(.recordName), .isIn, .list(of: .string, [.string("b"), .string("c")]))
        ]
        for (filters, all, inZone) in [
          ([], ["a", "b", "b", "c"], ["a", "b"]), (byName, ["b", "b", "c"], ["b"]),
        ] {
          let found = try await names(test, filters, pages: 1, in: test.privateID)
          #expect(found.sorted() == all)
          let limited = try await names(test, filters, zone: zone, in: test.privateID)
          #expect(limited.sorted() == inZone)
        }
        await #expect(throws: ItemFailure.self) {
          _ = try await names(test, zone: ZoneID(zoneName: "nowhere"), in: test.privateID)
        }
      }
    }

    @Test("sorting puts absent values last and breaks ties by age", arguments: engines)
    func sorting(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let long = String(repeating: "é", count: 60)
        let titles: [String: String?] = [
          "a": "m", "b": nil, "c": long + "2", "d": long + "1", "e": "m", "f": long,
        ]
        for name in ["a", "b", "c", "d", "e", "f"] {
          let title = titles[name].flatMap { $0 }
          try await test.save(
            name,
            [
              "title": title.map { .string($0) }, "size": .int64(name < "c" ? 1 : 2),
              "place": .location(
                Location(latitude: 0, longitude: Double(name.utf8.first! - 97))),
            ])
        }
        let center = Location(latitude: 0, longitude: 2.2)
        for size in [1, 2, 5, 200] {
          #expect(
            try await names(test, sortedBy: [SortKey(.field("title"))], pages: size)
              == ["a", "e", "f", "d", "c", "b"])
          #expect(
            try await names(
              test, sortedBy: [SortKey(.field("title"), ascending: false)], pages: size)
              == ["c", "d", "f", "e", "a", "b"])
          #expect(
            try await names(
              test,
              sortedBy: [SortKey(.field("size"), ascending: false), SortKey(.field("title"))],
              pages: size) == ["e", "f", "d", "c", "a", "b"])
          #expect(
            try await names(
              test, sortedBy: [SortKey(.field("place"), relativeLocation: center)], pages: size)
              == ["c", "d", "b", "e", "a", "f"])
        }
      }
    }

    @Test("changes between pages neither skip nor repeat other records", arguments: engines)
    func changesBetweenPages(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for number in 10..<20 { try await test.save("n\(number)", ["k": .int64(Int64(number))]) }
        for sortKeys in [[], [SortKey(.field("k"))]] {
          let query = Query(recordType: "Note", sortKeys: sortKeys)
          var search = RecordQuery(query: query, zoneID: nil, limit: 4)
          var found: [String] = []
          repeat {
            let page = try await test.store.records.records(matching: search, in: test.publicID)
            found += page.records.map(\.recordID.recordName)
            search.continuation = page.continuation
            // The records that the marker stands on go away and come back elsewhere.
            _ = try await test.delete(found.last!)
            try await test.save("early", ["k": .int64(0)])
          } while search.continuation != nil
          let expected = (10..<20).map { "n\($0)" }.filter { found.contains($0) }
          #expect(found.filter { $0.hasPrefix("n") } == expected)
          #expect(Set(found).count == found.count)
          for number in 10..<20 {
            try await test.save("n\(number)", ["k": .int64(Int64(number))])
          }
        }
      }
    }

    @Test("markers are checked", arguments: engines)
    func markers(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for name in ["a", "b", "c"] { try await test.save(name) }
        var search = RecordQuery(query: Query(recordType: "Note"), zoneID: nil, limit: 1)
        let marker = try #require(
          try await test.store.records.records(matching: search, in: test.publicID).continuation)
        func code(of marker: String, _ query: RecordQuery) async -> StoreError.Code? {
          var query = query
          query.continuation = marker
          return await storeError { [query] in
            _ = try await test.store.records.records(matching: query, in: test.publicID)
          }
        }
        for broken in ["", "x", "AAAAAAAAAAAAAAAAAAAA", String(marker.reversed()), marker + "A"] {
          #expect(await code(of: broken, search) == .badContinuation)
        }
        search.query.sortKeys = [SortKey(.field("x"))]
        #expect(await code(of: marker, search) == .badContinuation)
        search.query = Query(recordType: "Other")
        #expect(await code(of: marker, search) == .badContinuation)
      }
    }

    @Test("a marker is good for its caller, database and zone alone", arguments: engines)
    func bindings(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for database in [test.publicID, test.privateID] {
          for name in ["a", "b", "c"] { try await test.save(name, in: database) }
        }
        for sortKeys in [[], [SortKey(.system(.createdTimestamp))]] {
          let search = RecordQuery(
            query: Query(recordType: "Note", sortKeys: sortKeys), zoneID: nil, limit: 1,
            caller: .user(userRecordName: TestStore.alice))
          func reason(
            in database: DatabaseID, _ change: (inout RecordQuery) -> Void = { _ in }
          ) async -> String? {
            var search = search
            change(&search)
            do {
              _ = try await test.store.records.records(matching: search, in: database)
              return nil
            } catch { return "\(error)" }
          }
          let first = try await test.store.records.records(matching: search, in: test.publicID)
          let marker = try #require(first.continuation)
          #expect(await reason(in: test.publicID) { $0.continuation = marker } == nil)
          for (database, change) in [
            (test.privateID, { _ in }),
            (test.publicID, { $0.caller = .user(userRecordName: TestStore.bob) }),
            (test.publicID, { $0.caller = .anonymous }),
            (test.publicID, { $0.caller = .administrator(userRecordName: TestStore.alice) }),
            (test.publicID, { $0.zoneID = .default }),
          ] as [(DatabaseID, (inout RecordQuery) -> Void)] {
            #expect(await reason(in: database, change) == nil)
            let refusal = await reason(in: database) {
              change(&$0)
              $0.continuation = marker
            }
            #expect(refusal?.hasPrefix("continuationMarker: ") ?? false, "\(refusal ?? "none")")
          }
        }
      }
    }

    @Test("filters and sorts that do not fit their field name it", arguments: engines)
    func misfits(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.save("a", ["s": .string("x"), "l": .list(of: .int64, [.int64(1)])])
        let cases: [(Query, String)] = [
          (Query(recordType: "Note", filters: [Filter(.field("s"), .equals, .int64(1))]), "s"),
          (
            Query(recordType: "Note", filters: [Filter(.field("s"), .listContains, .string("x"))]),
            "s"
          ),
          (
            Query(
              recordType: "Note",
              filters: [Filter(.system(.createdTimestamp), .greaterThan, .int64(1))]),
            "createdTimestamp"
          ),
          (Query(recordType: "Note", sortKeys: [SortKey(.field("l"))]), "l"),
          (
            Query(
              recordType: "Note",
              sortKeys: [
                SortKey(.field("s"), relativeLocation: Location(latitude: 0, longitude: 0))
              ]), "s"
          ),
          (Query(recordType: "No type"), "recordType"),
        ]
        for (query, field) in cases {
          do {
            _ = try await test.store.records.records(
              matching: RecordQuery(query: query, zoneID: nil, limit: 10), in: test.publicID)
            Issue.record("\(query) was accepted")
          } catch let failure as ItemFailure {
            #expect(failure.code == .invalid)
            #expect(failure.field == field)
          }
        }
      }
    }

    @Test(
      "a record type that was never saved is not found; those of the system are", arguments: engines
    )
    func unknownTypes(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        func find(_ type: String, in database: DatabaseID) async throws -> [String] {
          try await test.store.records.records(
            matching: RecordQuery(query: Query(recordType: type), zoneID: nil, limit: 10),
            in: database
          ).records.map(\.recordID.recordName)
        }
        for database in [test.publicID, test.privateID] {
          let failure = await #expect(throws: ItemFailure.self) {
            try await find("Unseen", in: database)
          }
          #expect(failure?.code == .notFound && failure?.field == "recordType")
          #expect(failure?.reason.hasPrefix("Did not find record type: Unseen. ") == true)
        }
        #expect(try await find("cloudkit.share", in: test.privateID) == [])
        // The schema is the container's: a record in one database makes the type known in each.
        try await test.save("a", type: "Unseen", in: test.privateID)
        #expect(try await find("Unseen", in: test.privateID) == ["a"])
        #expect(try await find("Unseen", in: test.publicID) == [])
      }
    }

    @Test("a list longer than the index takes is still found", arguments: engines)
    func longList(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let many = (0..<2_000).map { RecordValue.int64($0) }
        try await test.save("long", ["l": .list(of: .int64, many)])
        try await test.save("short", ["l": .list(of: .int64, [.int64(5)])])
        let five = Filter(.field("l"), .listContains, .int64(5))
        #expect(try await names(test, [five], pages: 1).sorted() == ["long", "short"])
        let last = Filter(.field("l"), .listContains, .int64(1_999))
        #expect(try await names(test, [last]) == ["long"])
        try await test.save("long", ["l": .list(of: .int64, [.int64(6)])])
        #expect(try await names(test, [five]) == ["short"])
      }
    }

    @Test("words are found in one field, in a list and in all text", arguments: engines)
    func words(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.save(
          "a", ["title": .string("The deep Sea"), "note": .string("salt"), "size": .int64(1)])
        try await test.save(
          "b", ["title": .string("sea"), "tags": .list(of: .string, [.string("Deep blue")])])
        let many = (0..<1_500).map { "word\($0)" }.joined(separator: " ")
        try await test.save("c", ["title": .string(many), "note": .string("deep")])
        func found(_ key: FieldKey, _ comparator: CloudKitModel.Comparator, _ text: String)
          async throws -> [String]
        {
          try await names(test, [Filter(key, comparator, .string(text))], pages: 1).sorted()
        }
        #expect(try await found(.field("title"), .containsAllTokens, "SEA deep") == ["a"])
        #expect(try await found(.field("title"), .containsAnyTokens, "deep sea") == ["a", "b"])
        #expect(try await found(.field("title"), .containsAllTokens, "word1499 word3") == ["c"])
        #expect(try await found(.field("tags"), .containsAllTokens, "blue") == ["b"])
        #expect(try await found(.allText, .containsAllTokens, "deep") == ["a", "b", "c"])
        #expect(try await found(.allText, .containsAllTokens, "deep sea") == ["a", "b"])
        #expect(try await found(.allText, .containsAllTokens, "the") == [])
        try await test.save("a", ["title": .string("shallow")])
        #expect(try await found(.field("title"), .containsAnyTokens, "deep sea") == ["b"])
        _ = try await test.delete("c")
        #expect(try await found(.field("title"), .containsAllTokens, "word3") == [])
      }
    }
  }
}
