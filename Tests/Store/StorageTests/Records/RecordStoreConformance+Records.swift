import CloudKitModel
import Testing

extension RecordStoreConformance {
  struct Records {
    static let engines = StoreEngine.allCases

    private func operation(
      _ kind: RecordOperation.Kind, _ name: String, tag: String? = nil, type: String? = "Note",
      _ fields: RecordFields<RecordValue?> = [:], zone: ZoneID = .default, parent: Reference?? = nil
    ) -> RecordOperation {
      RecordOperation(
        kind: kind, recordID: RecordID(recordName: name, zoneID: zone), recordType: type,
        recordChangeTag: tag, fields: fields, parent: parent)
    }

    enum Tag: String, CaseIterable { case none, right, stale }

    @Test(
      "each kind of operation asks for existence and tag as documented", arguments: engines,
      RecordOperation.Kind.allCases)
    func kinds(_ engine: StoreEngine, _ kind: RecordOperation.Kind) async throws {
      try await engine.withStore { test in
        let absent = try await test.modify([operation(kind, "absent", tag: "e")])[0]
        let onAbsent: String =
          switch kind {
          case .create, .forceUpdate, .forceReplace: "saved"
          case .forceDelete: "deleted"
          case .update, .replace, .delete: "notFound"
          }
        #expect(absent.summary == onAbsent)
        for tag in Tag.allCases {
          let name = "present-\(tag)"
          let first = try await test.save(name, ["title": .string("a"), "body": .string("b")])
          let second = try await test.save(name, ["title": .string("c")])
          let given: String? =
            switch tag {
            case .none: nil
            case .right: second.recordChangeTag
            case .stale: first.recordChangeTag
            }
          let outcome = try await test.modify([
            operation(kind, name, tag: given, ["title": .string("d")])
          ])[0]
          let isDelete = kind == .delete || kind == .forceDelete
          let expected: String =
            switch kind {
            case .create: "exists"
            case .update, .replace, .delete:
              tag == .right ? (isDelete ? "deleted" : "saved") : "conflict"
            case .forceUpdate, .forceReplace, .forceDelete: isDelete ? "deleted" : "saved"
            }
          #expect(outcome.summary == expected, "\(kind) with tag \(tag)")
          let stored = try await test.record(name)
          switch expected {
          case "deleted":
            #expect(stored == nil)
          case "saved":
            let isReplace = kind == .replace || kind == .forceReplace
            var expected: RecordFields<RecordValue> = isReplace ? [:] : ["body": .string("b")]
            expected["title"] = .string("d")
            #expect(stored?.fields == expected)
            #expect(stored == outcome.record)
            #expect(stored?.recordChangeTag != second.recordChangeTag)
          default:
            #expect(stored == second)
            #expect(outcome.failure?.serverRecord == second)
          }
        }
      }
    }

    @Test("a saved record comes back as it was saved, in every type", arguments: engines)
    func allTypes(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let location = Location(
          latitude: -17.5, longitude: 178.25, horizontalAccuracy: 5, altitude: 12,
          timestamp: TestStore.time(7))
        var asset = try await test.upload(
          "content", receipt: "receipt", field: "a", by: "_x", in: test.privateID)
        var fields: RecordFields<RecordValue> = [
          "s": .string("naïve 🐦"), "i": .int64(.min), "d": .double(-0.1),
          "t": .timestamp(TestStore.time(3)), "b": .bytes(.init([0, 255, 1])),
          "l": .location(location),
          "r": .reference(Reference(recordName: "other", action: .deleteSelf)),
          "a": .asset(asset),
          "sl": .list(of: .string, [.string("x"), .string("")]),
          "e": .list(of: .int64, [.int64(1)]),
          "ll": .list(of: .location, [.location(location)]),
        ]
        let saved = try await test.save(
          "n", fields.mapValues { .some($0) }, in: test.privateID, by: "_x", device: "phone", at: 5)
        asset.receipt = nil
        fields["a"] = .asset(asset)
        #expect(saved.fields == fields)
        let stamp = Record.Stamp(
          timestamp: TestStore.time(5), userRecordName: "_x", deviceID: "phone")
        #expect(saved.created == stamp)
        #expect(saved.modified == stamp)
        #expect(try await test.record("n", in: test.privateID) == saved)
        let changed = try await test.save("n", ["s": nil], in: test.privateID, at: 6)
        #expect(changed.created == stamp)
        #expect(changed.modified?.timestamp == TestStore.time(6))
        #expect(changed.fields["s"] == nil)
        #expect(changed.fields.count == fields.count - 1)
      }
    }

    @Test("the change tag is short and differs after each save", arguments: engines)
    func tags(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        var tags: Set<String> = []
        for _ in 0..<50 {
          let tag = try #require(try await test.save("n").recordChangeTag)
          // 64 bits in base 36.
          #expect(tag.count <= 13)
          tags.insert(tag)
        }
        #expect(tags.count == 50)
      }
    }

    @Test("records come in the order asked for, nil where there is none", arguments: engines)
    func lookup(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for name in ["a", "b"] { try await test.save(name) }
        let ids = ["b", "x", "a", "b"].map { RecordID(recordName: $0) }
        let found = try await test.store.records.records(
          ids + [RecordID(recordName: "a", zoneID: ZoneID(zoneName: "nowhere"))],
          in: test.publicID)
        #expect(found.map { $0?.recordID.recordName } == ["b", nil, "a", "b", nil])
      }
    }

    @Test("the owner's own name for a zone means the same zone", arguments: engines)
    func ownerName(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let named = ZoneID(zoneName: ZoneID.defaultZoneName, ownerName: TestStore.alice)
        let saved = try await test.save("n", zone: named, in: test.privateID)
        #expect(saved.recordID.zoneID == .default)
        #expect(try await test.record("n", zone: named, in: test.privateID) == saved)
      }
    }

    @Test("a zone that does not exist fails its operations only", arguments: engines)
    func unknownZone(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let outcomes = try await test.modify([
          operation(.create, "a", zone: ZoneID(zoneName: "nowhere")), operation(.create, "b"),
        ])
        #expect(outcomes.map(\.summary) == ["zoneNotFound", "saved"])
      }
    }

    @Test("a field's type is fixed by its first value", arguments: engines)
    func fieldTypes(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.save(
          "a", ["n": .double(1), "l": .list(of: .double, [.double(1)]), "s": .string("x")])
        let outcome = try await test.modify([operation(.create, "b", ["s": .int64(1)])])[0]
        let failure = try #require(outcome.failure)
        #expect(failure.code == .invalid)
        #expect(failure.field == "s")
        #expect(failure.reason.contains("STRING") && failure.reason.contains("INT64"))
        #expect(failure.reason.contains("'b"))
        let saved = try await test.save(
          "c",
          [
            "n": .int64(3), "l": .list(of: .int64, [.int64(4)]),
          ])
        #expect(saved.fields == ["n": .double(3), "l": .list(of: .double, [.double(4)])])
        let empty = try await test.save("d", ["l": .list(of: .string, [])])
        #expect(empty.fields["l"] == .list(of: .double, []))
        for wrong: RecordValue in [
          .list(of: .string, [.string("x")]), .double(2), .list(of: .double, []),
        ] {
          let field = if case .list(of: .double, _) = wrong { "n" } else { "l" }
          let outcome = try await test.modify([operation(.create, "e", [field: wrong])])[0]
          #expect(outcome.failure?.field == field)
        }
        // Another type and another database of the container: own fields, the same schema.
        try await test.save("f", type: "Other", ["s": .int64(1)])
        let elsewhere = try await test.modify(
          [operation(.create, "g", ["s": .int64(1)])], in: test.privateID)[0]
        #expect(elsewhere.summary == "invalid")
      }
    }

    @Test("an empty list makes no new field, whatever its type, and no type", arguments: engines)
    func emptyLists(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.save("n", ["tags": .list(of: .string, [.string("a")])])
        for type in ["Note", "New"] {
          for list in [RecordValue.list(of: .string, []), .list(of: .int64, [])] {
            let failure = try #require(
              try await test.modify(
                [operation(.create, "m", type: type, ["rooms": list])], isByAdministrator: false)[0]
                .failure)
            #expect(failure.code == .invalid && failure.field == "rooms")
            #expect(
              failure.reason.hasPrefix(
                "cannot use an empty list to initialize a new field (field 'rooms' in record type "
                  + "'\(type)' should be more precise)"))
          }
        }
        let schema = try await test.store.schemas.schema(of: TestStore.container, in: .development)
        #expect(schema.recordTypes.keys.sorted() == ["Note"])
        #expect(schema.recordTypes["Note"]?.fields.keys.sorted() == ["tags"])
        // The field is there once a record has an element, and then takes every empty list.
        try await test.save("m", ["rooms": .list(of: .int64, [.int64(1)])])
        let emptied = try await test.save("m", ["rooms": .list(of: .string, [])])
        #expect(emptied.fields["rooms"] == .list(of: .int64, []))
        // An administrator's import has the types of an export.
        let imported = try await test.save("i", ["floors": .list(of: .int64, [])])
        #expect(imported.fields["floors"] == .list(of: .int64, []))
        var untyped = operation(.create, "u", ["halls": .list(of: .string, [])])
        untyped.untypedLists = ["halls"]
        #expect(try await test.modify([untyped])[0].failure?.field == "halls")
        var known = operation(.create, "k", ["floors": .list(of: .string, [])])
        known.untypedLists = ["floors"]
        #expect(
          try await test.modify([known])[0].record?.fields["floors"] == .list(of: .int64, []))
      }
    }

    @Test("two new fields of one name in a request must agree", arguments: engines)
    func conflictInRequest(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let outcomes = try await test.modify([
          operation(.create, "a", ["x": .string("1")]), operation(.create, "b", ["x": .int64(1)]),
        ])
        #expect(outcomes.map(\.summary) == ["saved", "invalid"])
      }
    }

    @Test("a schema that was rolled back is not remembered", arguments: engines)
    func schemaRollback(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let outcomes = try await test.modify(
          [
            operation(.create, "a", ["x": .string("1")], zone: zone),
            operation(.update, "missing", zone: zone),
          ], in: test.privateID, atomic: true)
        #expect(outcomes.map(\.summary) == ["atomic", "notFound"])
        let saved = try await test.save("a", ["x": .int64(1)], zone: zone, in: test.privateID)
        #expect(saved.fields == ["x": .int64(1)])
      }
    }

    @Test(
      "atomic holds for each custom zone by itself, not in the default zone", arguments: engines)
    func atomic(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let one = try await test.makeZone("one")
        let two = try await test.makeZone("two")
        try await test.watch()
        let before = try await test.outbox(of: test.privateID).count
        let operations = [
          operation(.create, "a", zone: one), operation(.create, "b", zone: two),
          operation(.create, "c"), operation(.delete, "missing", zone: one),
          operation(.update, "missing"),
        ]
        let outcomes = try await test.modify(operations, in: test.privateID, atomic: true)
        #expect(outcomes.map(\.summary) == ["atomic", "saved", "saved", "notFound", "notFound"])
        #expect(try await test.record("a", zone: one, in: test.privateID) == nil)
        #expect(try await test.record("b", zone: two, in: test.privateID) != nil)
        #expect(try await test.record("c", in: test.privateID) != nil)
        #expect(try await test.outbox(of: test.privateID).count == before + 2)
        let loose = try await test.modify(operations, in: test.privateID, atomic: false)
        #expect(loose.map(\.summary) == ["saved", "exists", "exists", "notFound", "notFound"])
      }
    }

    @Test("a record that appears twice is refused the second time", arguments: engines)
    func twice(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let operations = [
          operation(.create, "a", zone: zone), operation(.forceDelete, "a", zone: zone),
          operation(.create, "b", zone: zone),
        ]
        let loose = try await test.modify(operations, in: test.privateID)
        #expect(loose.map(\.summary) == ["saved", "invalid", "saved"])
        let other = operations.map { operation in
          var operation = operation
          operation.recordID.recordName += "2"
          return operation
        }
        let atomic = try await test.modify(other, in: test.privateID, atomic: true)
        #expect(atomic.map(\.summary) == ["atomic", "invalid", "atomic"])
      }
    }

    @Test("names, types and sizes are checked", arguments: engines)
    func validation(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let outcomes = try await test.modify([
          operation(.create, "_system"), operation(.create, "a", type: nil),
          operation(.create, "b", type: "no type"),
          operation(.create, "c", ["bad name": .int64(1)]),
          operation(.create, "d", ["x": .bytes(.init(count: 1_000_001))]),
          operation(.create, "e", ["x": .location(Location(latitude: 91, longitude: 0))]),
          operation(.create, "f", ["y": .bytes(.init(count: 900_000))]),
          operation(.forceUpdate, TestStore.alice, type: "Users"),
        ])
        #expect(
          outcomes.map(\.summary) == [
            "invalid", "invalid", "invalid", "invalid", "limitExceeded", "invalid", "saved",
            "saved",
          ])
        let larger = try await test.modify([
          operation(.forceUpdate, "f", ["z": .bytes(.init(count: 100_001))])
        ])
        #expect(larger[0].summary == "limitExceeded")
        let retyped = try await test.modify([operation(.forceUpdate, "f", type: "Other")])
        #expect(retyped[0].failure?.field == "recordType")
      }
    }

    @Test("where only creators may change records, others are refused", arguments: engines)
    func creators(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.save("a")
        for kind in RecordOperation.Kind.allCases where kind != .create {
          let outcome = try await test.modify(
            [operation(kind, "a")], by: TestStore.bob, isByAdministrator: false)[0]
          #expect(outcome.summary == "accessDenied")
        }
        let own = try await test.modify(
          [operation(.forceUpdate, "a")], isByAdministrator: false)[0]
        #expect(own.summary == "saved")
      }
    }

    @Test(
      "deleting a target deletes holders of deleteSelf references, recursively", arguments: engines)
    func cascade(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        func reference(_ name: String, _ action: Reference.Action = .deleteSelf) -> RecordValue {
          .reference(Reference(recordName: name, action: action))
        }
        try await test.watch()
        try await test.save("root")
        try await test.save("child", ["up": reference("root")])
        try await test.save("grandchild", ["ups": .list(of: .reference, [reference("child")])])
        try await test.save("loose", ["up": reference("root", .none)])
        try await test.save("freed", ["up": reference("root")])
        try await test.save("freed", ["up": reference("loose")])
        try await test.save("root", ["up": reference("grandchild")])
        let before = try #require(try await test.outbox().last).sequence
        #expect(try await test.delete("root") == .deleted(RecordID(recordName: "root")))
        for gone in ["root", "child", "grandchild"] {
          #expect(try await test.record(gone) == nil)
        }
        for kept in ["loose", "freed"] { #expect(try await test.record(kept) != nil) }
        let events = try await test.store.outbox.undispatchedChanges(
          in: .whole(test.publicID), after: before, limit: 10)
        #expect(events.map(\.change.event) == [.recordDeleted, .recordDeleted, .recordDeleted])
        #expect(
          events.compactMap { $0.change.record?.recordID.recordName } == [
            "root", "child", "grandchild",
          ])
        #expect(events.last?.change.record?.fields["ups"] != nil)
      }
    }

    @Test("a target takes 750 deleteSelf references", arguments: engines)
    func edgeLimit(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let up = RecordValue.reference(Reference(recordName: "root", action: .deleteSelf))
        let holders = (0...750).map { operation(.create, "h\($0)", ["up": up]) }
        let outcomes = try await test.modify(holders)
        #expect(outcomes.filter { $0.record != nil }.count == 750)
        #expect(outcomes[750].failure?.code == .limitExceeded)
        #expect(outcomes[750].failure?.field == "up")
      }
    }

    @Test(
      "parents and validated references must exist or be made in the request", arguments: engines)
    func targets(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        func child(_ name: String, of parent: String) -> RecordOperation {
          operation(.create, name, parent: .some(Reference(recordName: parent)))
        }
        let validated = RecordValue.reference(Reference(recordName: "p", action: .validate))
        let missing = try await test.modify([
          child("c", of: "p"), operation(.create, "v", ["to": validated]),
        ])
        #expect(missing.map(\.summary) == ["referenceMissing", "referenceMissing"])
        #expect(missing.map { $0.failure?.field } == ["parent", "to"])
        // In any order, also through each other.
        let together = try await test.modify([
          child("d", of: "c"), child("c", of: "p"), operation(.create, "v", ["to": validated]),
          operation(.create, "p"),
        ])
        #expect(together.map(\.summary) == ["saved", "saved", "saved", "saved"])
        #expect(together[0].record?.parent == Reference(recordName: "c"))
        let circle = try await test.modify([child("x", of: "y"), child("y", of: "x")])
        #expect(circle.map(\.summary) == ["referenceMissing", "referenceMissing"])
        let away = Reference(recordName: "p", zoneID: ZoneID(zoneName: "elsewhere"))
        let outside = try await test.modify([operation(.create, "z", parent: .some(away))])
        #expect(outside[0].failure?.field == "parent")
        for action in Reference.Action.allCases {
          var target = away
          target.action = action
          for value in [RecordValue.reference(target), .list(of: .reference, [.reference(target)])]
          {
            let outcomes = try await test.modify([operation(.create, "z", ["away": value])])
            #expect(outcomes[0].failure?.code == .invalid, "\(action)")
            #expect(outcomes[0].failure?.field == "away")
          }
        }
        let orphaned = try await test.modify([operation(.forceUpdate, "d", parent: .some(nil))])
        #expect(orphaned[0].record?.parent == nil)
      }
    }

    @Test("the outbox has each change as it was committed", arguments: engines)
    func outbox(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        try await test.watch()
        let created = try await test.save("a", ["x": .int64(1)], device: "phone", at: 1)
        let updated = try await test.save("a", ["x": .int64(2)], at: 2)
        _ = try await test.delete("a")
        let entries = try await test.outbox()
        #expect(entries.map(\.change.event) == [.recordCreated, .recordUpdated, .recordDeleted])
        #expect(entries.map(\.change.record) == [created, updated, updated])
        #expect(entries.map(\.change.deviceID) == ["phone", nil, nil])
        #expect(entries.map(\.change.timestamp) == [1, 2, 0].map { TestStore.time($0) })
        #expect(entries.allSatisfy { $0.change.userRecordName == TestStore.alice })
        #expect(Set(entries.map(\.change.notificationID)).count == 3)
        #expect(entries.map(\.sequence) == entries.map(\.sequence).sorted())
        #expect(try await test.store.outbox.undispatchedDatabases() == [test.publicID])
        let rest = try await test.store.outbox.undispatchedChanges(
          in: .whole(test.publicID), after: entries[0].sequence, limit: 1)
        #expect(rest == [entries[1]])
      }
    }
  }
}
