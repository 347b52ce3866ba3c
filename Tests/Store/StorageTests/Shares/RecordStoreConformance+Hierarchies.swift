import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  struct Hierarchies {
    static let engines = StoreEngine.allCases

    private func save(
      _ name: String, below parent: String?, in zone: ZoneID, deletedWith target: String? = nil
    ) -> RecordOperation {
      var fields: RecordFields<RecordValue?> = [:]
      if let target {
        fields["with"] = .reference(Reference(recordName: target, action: .deleteSelf))
      }
      return RecordOperation(
        kind: .forceReplace, recordID: RecordID(recordName: name, zoneID: zone),
        recordType: "Item", fields: fields,
        parent: .some(parent.map { Reference(recordName: $0) }))
    }

    private func change(_ name: String, in zone: ZoneID) -> RecordOperation {
      RecordOperation(
        kind: .forceUpdate, recordID: RecordID(recordName: name, zoneID: zone),
        recordType: "Item")
    }

    private func share(_ root: String, in zone: ZoneID) -> RecordOperation {
      RecordOperation(
        kind: .create, recordID: RecordID(recordName: "share-\(root)", zoneID: zone),
        recordType: ShareContent.recordType,
        shareContent: ShareContent(root: .init(recordName: root)))
    }

    private func delete(_ name: String, in zone: ZoneID) -> RecordOperation {
      RecordOperation(kind: .forceDelete, recordID: RecordID(recordName: name, zoneID: zone))
    }

    @Test("a parent is deleted with its children alone, in any order", arguments: engines)
    func parents(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        for database in [test.privateID, test.publicID] {
          let zone = database == test.privateID ? zone : .default
          _ = try await test.modify(
            [
              save("a", below: nil, in: zone), save("b", below: "a", in: zone),
              save("c", below: "b", in: zone), save("d", below: "a", in: zone),
            ], in: database)
        }
        let refused = try await test.modify([delete("a", in: zone)], in: test.privateID)
        #expect(refused.map(\.summary) == ["referenced"])
        #expect(
          refused[0].failure?.reason.contains("record 'b' has record 'a' as its parent") == true)
        let some = try await test.modify(
          [delete("a", in: zone), delete("c", in: zone), delete("d", in: zone)],
          in: test.privateID, atomic: true)
        #expect(some.map(\.summary) == ["referenced", "atomic", "atomic"])
        // The child can also leave in the same request.
        let moved = try await test.modify(
          [delete("a", in: zone), delete("d", in: zone), save("b", below: nil, in: zone)],
          in: test.privateID, atomic: true)
        #expect(moved.map(\.summary) == ["deleted", "deleted", "saved"])
        let all = try await test.modify(
          [delete("b", in: zone), delete("c", in: zone)], in: test.privateID)
        #expect(all.map(\.summary) == ["deleted", "deleted"])
        // In the public database nothing can be shared, so that a parent is no more than a name.
        #expect(try await test.delete("a").summary == "deleted")
      }
    }

    @Test("the save of a child gives its parent a new change tag", arguments: engines)
    func parentTags(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        _ = try await test.modify(
          [
            save("top", below: nil, in: zone), save("a", below: "top", in: zone),
            save("b", below: "a", in: zone),
          ], in: test.privateID)
        func tags() async throws -> [String?] {
          var tags: [String?] = []
          for name in ["top", "a", "b"] {
            tags.append(
              try await test.record(name, zone: zone, in: test.privateID)?.recordChangeTag)
          }
          return tags
        }
        let first = try await tags()
        let parent = try #require(try await test.record("a", zone: zone, in: test.privateID))
        let token = try await test.changes(in: zone).token
        _ = try await test.modify([change("b", in: zone)], in: test.privateID)
        let second = try await tags()
        #expect(second[0] == first[0] && second[1] != first[1] && second[2] != first[2])
        let raised = try #require(try await test.record("a", zone: zone, in: test.privateID))
        #expect(raised.modified == parent.modified && raised.parent == parent.parent)
        #expect(try await test.changes(in: zone, since: token).names.sorted() == ["a", "b"])
        // A save with the parent's old tag is a conflict, but not in one request with the child.
        var update = change("a", in: zone)
        update.kind = .update
        update.recordChangeTag = first[1]
        let stale = try await test.modify([update], in: test.privateID)
        #expect(stale.map { $0.failure?.code } == [.conflict])
        update.recordChangeTag = second[1]
        let together = try await test.modify(
          [change("b", in: zone), update], in: test.privateID, atomic: true)
        #expect(together.map(\.summary) == ["saved", "saved"])
        #expect(together[1].record?.recordChangeTag == (try await tags())[1])
        // A child that is not saved changes nothing.
        let third = try await tags()
        let failed = try await test.modify(
          [change("b", in: zone), save("c", below: "missing", in: zone)], in: test.privateID,
          atomic: true)
        #expect(failed.map(\.summary) == ["atomic", "referenceMissing"])
        #expect(try await tags() == third)
      }
    }

    @Test("a deletion that takes the children with it is no loss of a parent", arguments: engines)
    func cascades(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        _ = try await test.modify(
          [
            save("a", below: nil, in: zone), save("b", below: "a", in: zone, deletedWith: "a"),
            save("x", below: nil, in: zone), save("y", below: "x", in: zone, deletedWith: "x"),
            save("z", below: "y", in: zone),
          ], in: test.privateID)
        let outcomes = try await test.modify(
          [delete("a", in: zone), delete("x", in: zone)], in: test.privateID)
        #expect(outcomes.map(\.summary) == ["deleted", "referenced"])
        #expect(try await test.record("b", zone: zone, in: test.privateID) == nil)
        #expect(try await test.record("y", zone: zone, in: test.privateID) != nil)
      }
    }

    @Test(
      "a parent is deleted before another record takes its children away", arguments: engines)
    func cascadesOfOthers(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        _ = try await test.modify(
          [
            save("a", below: nil, in: zone), save("x", below: nil, in: zone),
            save("b", below: "a", in: zone, deletedWith: "x"),
            save("p", below: nil, in: zone), save("q", below: nil, in: zone, deletedWith: "p"),
            save("r", below: "q", in: zone),
          ], in: test.privateID)
        let child = try await test.modify(
          [delete("a", in: zone), delete("x", in: zone)], in: test.privateID)
        #expect(child.map(\.summary) == ["deleted", "deleted"])
        // The deletion of p took q with it, which is the parent of r.
        let holder = try await test.modify(
          [delete("p", in: zone), save("q", below: nil, in: zone)], in: test.privateID)
        #expect(holder.map(\.summary) == ["deleted", "saved"])
      }
    }

    @Test("a child is saved before the share and its root", arguments: engines)
    func childBeforeShare(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let outcomes = try await test.modify(
          [save("c", below: "r", in: zone), share("r", in: zone), save("r", below: nil, in: zone)],
          in: test.privateID)
        #expect(outcomes.map(\.summary) == ["saved", "saved", "saved"])
        #expect(try await places(in: test)["c"] == Place(parent: "r", top: "r"))
      }
    }

    @Test(
      "no record becomes its own ancestor, and a chain of parents has an end", arguments: engines)
    func chains(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let limit = ServiceLimits.ancestorsPerRecord
        let chain = (0...limit).map { number in
          save("r\(number)", below: number == 0 ? nil : "r\(number - 1)", in: zone)
        }
        let saved = try await test.modify(chain.reversed(), in: test.privateID)
        #expect(saved.allSatisfy { $0.record != nil })
        let beyond = try await test.modify(
          [save("beyond", below: "r\(limit)", in: zone)], in: test.privateID)
        #expect(beyond.map(\.summary) == ["limitExceeded"])
        #expect(beyond[0].failure?.limit == limit)
        let cycles = try await test.modify(
          [save("r0", below: "r\(limit)", in: zone), save("r7", below: "r7", in: zone)],
          in: test.privateID)
        #expect(cycles.map(\.summary) == ["invalid", "invalid"])
        #expect(cycles.map { $0.failure?.field } == ["parent", "parent"])
        // A subtree counts with its height.
        let deeper = try await test.modify(
          [save("top", below: nil, in: zone), save("r0", below: "top", in: zone)],
          in: test.privateID)
        #expect(deeper.map(\.summary) == ["saved", "limitExceeded"])
        let action = RecordOperation(
          kind: .create, recordID: RecordID(recordName: "s", zoneID: zone), recordType: "Item",
          parent: .some(Reference(recordName: "top", action: .deleteSelf)))
        let refused = try await test.modify([action], in: test.privateID)
        #expect(refused.map(\.summary) == ["invalid"])
      }
    }

    @Test("a record with too many descendants keeps its parent", arguments: engines)
    func subtrees(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        let limit = ServiceLimits.movedDescendants
        _ = try await test.modify(
          [
            save("a", below: nil, in: zone), save("b", below: nil, in: zone),
            save("c", below: "a", in: zone),
          ], in: test.privateID)
        for start in stride(from: 0, to: limit, by: 500) {
          _ = try await test.modify(
            (start..<start + 500).map { save("n\($0)", below: "c", in: zone) },
            in: test.privateID)
        }
        let move = save("c", below: "b", in: zone)
        #expect(try await test.modify([move], in: test.privateID)[0].summary == "saved")
        #expect(try await places(in: test)["n0"]?.top == "b")
        _ = try await test.modify([save("last", below: "n0", in: zone)], in: test.privateID)
        let refused = try await test.modify(
          [save("c", below: "a", in: zone)], in: test.privateID)[0]
        #expect(refused.summary == "limitExceeded")
        #expect(refused.failure?.limit == limit)
      }
    }

    // MARK: Against a model

    /// A record of the model.
    private struct Item: Equatable {
      var parent: String?
      var deletedWith: String?
      var isShared = false
    }

    /// The parent and the top of a record, by their names.
    private struct Place: Equatable {
      var parent: String?
      var top: String
    }

    @Test(
      "random moves and deletions leave each record a parent that exists, and its place",
      arguments: engines, Seeds.some(3))
    func random(_ engine: StoreEngine, _ seed: Int) async throws {
      try await engine.withStore { test in
        var random = SeededGenerator(seed: seed)
        let zone = try await test.makeZone("z")
        let names = (0..<9).map { "r\($0)" }
        for _ in 0..<150 {
          var next = names.shuffled(using: &random)[...]
          let operations = (0..<Int.random(in: 1...4, using: &random)).flatMap { _ in
            let name = next.removeFirst()
            if random.chance(1, in: 3) { return [delete(name, in: zone)] }
            if random.chance(1, in: 5) { return [delete("share-\(name)", in: zone)] }
            if random.chance(1, in: 5) { return [change(name, in: zone), share(name, in: zone)] }
            return [
              save(
                name, below: random.chance(1, in: 4) ? nil : random.pick(names), in: zone,
                deletedWith: random.chance(1, in: 4) ? random.pick(names) : nil)
            ]
          }
          let isAtomic = random.chance(1, in: 3)
          let outcomes = try await test.modify(operations, in: test.privateID, atomic: isAtomic)
          let comment: Comment = "seed \(seed): \(operations), \(outcomes.map(\.summary))"
          for (operation, outcome) in zip(operations, outcomes) {
            let name = operation.recordID.recordName
            switch outcome {
            case .saved, .deleted: break
            case .failed(let failure) where failure.code == .referenced:
              // Something that the deletion would not take with it keeps a parent.
              let now = try await self.items(named: names, in: zone, test)
              let gone = self.closure(of: name, in: now)
              let isReferenced = now.contains {
                !gone.contains($0.key) && $0.value.parent.map(gone.contains) == true
              }
              #expect(isReferenced || isAtomic, comment)
            case .failed: break
            }
          }
          for (operation, outcome) in zip(operations, outcomes) {
            guard let record = outcome.record, operation.shareContent == nil else { continue }
            let stored = try await test.record(
              record.recordID.recordName, zone: zone, in: test.privateID)
            // A later operation may have deleted it with another record.
            #expect(stored == nil || stored == record, comment)
          }
          let model = try await self.items(named: names, in: zone, test)
          #expect(model.values.allSatisfy { $0.parent.map { model[$0] != nil } ?? true }, comment)
          let expected = expectedPlaces(of: model)
          #expect(try await places(in: test) == expected, comment)
          // No shared hierarchy is in another one.
          for (name, item) in model where item.isShared {
            var next = item.parent
            while let ancestor = next {
              #expect(model[ancestor]?.isShared == false, "\(name): \(comment)")
              next = model[ancestor]?.parent
            }
          }
        }
      }
    }

    /// The record and those that its deletion deletes.
    private func closure(of name: String, in model: [String: Item]) -> Set<String> {
      var gone: Set = [name]
      var count = 0
      while count != gone.count {
        count = gone.count
        for (name, item) in model where item.deletedWith.map(gone.contains) == true {
          gone.insert(name)
        }
      }
      return gone
    }

    private func items(
      named names: [String], in zone: ZoneID, _ test: TestStore
    ) async throws -> [String: Item] {
      let records = try await test.store.records.records(
        names.map { RecordID(recordName: $0, zoneID: zone) }, in: test.privateID)
      var items: [String: Item] = [:]
      for record in records {
        guard let record else { continue }
        items[record.recordID.recordName] = Item(
          parent: record.parent?.recordName, deletedWith: record.deleteSelfTargets.first,
          isShared: record.share != nil)
      }
      return items
    }

    private func expectedPlaces(of model: [String: Item]) -> [String: Place] {
      var places: [String: Place] = [:]
      for (name, item) in model where item.parent != nil || item.isShared {
        var top = name
        while model[top]?.isShared == false, let next = model[top]?.parent { top = next }
        places[name] = Place(parent: item.parent, top: top)
        if item.isShared { places["share-\(name)"] = Place(parent: nil, top: name) }
      }
      return places
    }

    /// The rows of the table of places, by the names of their records.
    private func places(in test: TestStore) async throws -> [String: Place] {
      let store = test.store
      let database = test.privateID
      return try await store.transactions.read { transaction in
        let records = RecordTable(transaction: transaction)
        let rows = try transaction.connection.rows(
          "SELECT record_number, parent_number, top_number FROM hierarchy WHERE database_id = $1",
          [.integer(database.rawValue)]
        ) { ($0.integer(0), $0.integer(1), $0.integer(2)) }
        var places: [String: Place] = [:]
        for (record, parent, top) in rows {
          places[try records.name(of: record, in: database) ?? "?\(record)"] = Place(
            parent: parent == 0
              ? nil : try records.name(of: parent, in: database) ?? "?\(parent)",
            top: try records.name(of: top, in: database) ?? "?\(top)")
        }
        return places
      }
    }
  }
}
