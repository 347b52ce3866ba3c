import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  struct Usage {
    private static let engines = StoreEngine.allCases

    @Test("private and public databases are counted, each by itself", arguments: engines)
    func scope(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let saved = try await test.save("n", ["text": .string("hello")])
        #expect(
          try await test.store.databases.usage(of: test.publicID)
            == DatabaseUsage(bytes: saved.contentSize, unheldAssetBytes: 0))
        #expect(
          try await test.store.databases.usage(of: test.privateID)
            == DatabaseUsage(bytes: 0, unheldAssetBytes: 0))
      }
    }

    @Test("an asset counts once, while a record holds it", arguments: engines)
    func assets(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        func usage() async throws -> DatabaseUsage? {
          try await test.store.databases.usage(of: test.privateID)
        }
        let first = try await test.upload("hello", receipt: "one", in: test.privateID)
        let second = try await test.upload("hello", receipt: "two", in: test.privateID)
        #expect(try await usage() == DatabaseUsage(bytes: 0, unheldAssetBytes: 5))
        let a = try await test.save("a", ["file": .asset(first)], in: test.privateID)
        let b = try await test.save("b", ["file": .asset(second)], in: test.privateID)
        #expect(
          try await usage()
            == DatabaseUsage(bytes: 5 + a.contentSize + b.contentSize, unheldAssetBytes: 0))
        _ = try await test.delete("a", in: test.privateID)
        #expect(try await usage()?.bytes == 5 + b.contentSize)
        let bare = try await test.save("b", ["file": nil], in: test.privateID)
        #expect(
          try await usage()
            == DatabaseUsage(bytes: bare.contentSize, unheldAssetBytes: 5))
      }
    }

    @Test(
      "records that name a record beyond the quota exceed it too, in any order", arguments: engines)
    func quotaOfParents(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("z")
        func save(_ name: String, below parent: String?) -> RecordOperation {
          RecordOperation(
            kind: .create, recordID: RecordID(recordName: name, zoneID: zone), recordType: "Note",
            parent: .some(parent.map { Reference(recordName: $0) }))
        }
        for isAtomic in [true, false] {
          let outcomes = try await test.modify(
            [
              save("c", below: "b"), save("a", below: nil), save("b", below: "a"),
              save("lost", below: "missing"),
            ], in: test.privateID, atomic: isAtomic, quota: 1)
          #expect(
            outcomes.map { $0.failure?.code } == [
              .quotaExceeded, .quotaExceeded, .quotaExceeded, .referenceMissing,
            ])
        }
      }
    }

    @Test("what exceeds the quota is refused by itself, what makes room is not", arguments: engines)
    func quota(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for (database, scope) in [(test.privateID, "private"), (test.publicID, "public")] {
          func save(_ name: String, _ count: Int, quota: Int64) async throws -> RecordOutcome {
            try await test.modify([.text(name, count)], in: database, quota: quota)[0]
          }
          let a = try #require(try await save("a", 1000, quota: 5000).record)
          let size = try #require(try await test.store.databases.usage(of: database)).bytes
          #expect(size == a.contentSize)
          // The exact size is allowed, one byte less is not.
          #expect(try await save("b", 1000, quota: 2 * size - 1).failure?.code == .quotaExceeded)
          #expect(try await test.record("b", in: database) == nil)
          #expect(try await save("b", 1000, quota: 2 * size).summary == "saved")
          let failure = try #require(try await save("c", 1, quota: 2 * size).failure)
          #expect(
            failure.reason.contains("the \(scope) database would have")
              && failure.reason.contains("its quota is \(2 * size)"), "\(failure.reason)")
          #expect(failure.limit == Int(2 * size))
          // Beyond a quota that was lowered one can make records smaller, and delete them.
          #expect(try await save("a", 900, quota: 10).summary == "saved")
          #expect(try await save("a", 901, quota: 10).failure?.code == .quotaExceeded)
          #expect(try await test.delete("b", in: database).summary == "deleted")
          let rest = try #require(try await test.store.databases.usage(of: database))
          #expect(rest.bytes < size)
        }
        #expect(
          test.store.quotas.refusals == [.privateDatabaseBytes: 3, .publicDatabaseBytes: 3])
      }
    }

    @Test("in a request each record has its own outcome; an atomic one keeps nothing")
    func requests() async throws {
      try await StoreEngine.sqliteInMemory.withStore { test in
        let zone = try await test.makeZone("z")
        let one = try await test.save("probe", ["text": .string("x")], in: test.privateID)
        let quota = 2 * one.contentSize + 100
        func modify(_ zone: ZoneID) async throws -> [String] {
          try await test.modify(
            [.text("a", 1, zone), .text("b", 5000, zone), .text("c", 1, zone)],
            in: test.privateID, atomic: true, quota: quota
          ).map(\.summary)
        }
        #expect(try await modify(zone) == ["atomic", "quotaExceeded", "atomic"])
        #expect(try await test.store.databases.usage(of: test.privateID)?.bytes == one.contentSize)
        #expect(try await modify(.default) == ["saved", "quotaExceeded", "saved"])
      }
    }

    @Test("numbers drawn in what is taken back are not used twice")
    func numbers() async throws {
      try await StoreEngine.sqliteInMemory.withStore { test in
        let zone = try await test.makeZone("z")
        try await test.save("target", zone: zone, in: test.privateID)
        for index in 0..<100 {
          try await test.save(
            "holder\(index)",
            ["target": .reference(Reference(recordName: "target", action: .deleteSelf))],
            zone: zone, in: test.privateID)
        }
        // The deletion of the holders draws numbers, and is taken back; the other zone goes on.
        let outcomes = try await test.modify(
          [
            RecordOperation(
              kind: .forceDelete, recordID: RecordID(recordName: "target", zoneID: zone)),
            RecordOperation(kind: .update, recordID: RecordID(recordName: "none", zoneID: zone)),
            .text("other", 1),
          ], in: test.privateID, atomic: true)
        #expect(outcomes.map(\.summary) == ["atomic", "notFound", "saved"])
        for index in 0..<100 {
          #expect(
            try await test.modify([.text("more\(index)", 1)], in: test.privateID)[0].summary
              == "saved")
        }
      }
    }

    // MARK: Against a plain model

    /// The expected contents of the database: records by ID, and files by the content of their
    /// records.
    private struct Model {
      var records: [RecordID: Record] = [:]

      var bytes: Int64 {
        var files: [String: Int64] = [:]
        var bytes: Int64 = 0
        for record in records.values {
          bytes += record.contentSize
          for value in record.fields.values {
            for asset in value.assets { files[asset.fileChecksum] = asset.size }
          }
        }
        return bytes + files.values.reduce(0, +)
      }

      mutating func remove(_ recordID: RecordID) {
        guard records.removeValue(forKey: recordID) != nil else { return }
        for (holder, record) in records
        where holder.zoneID == recordID.zoneID
          && record.deleteSelfTargets.contains(recordID.recordName)
        {
          remove(holder)
        }
      }
    }

    @Test("random requests agree with a plain model", arguments: engines, Seeds.some(1))
    func random(_ engine: StoreEngine, _ seed: Int) async throws {
      try await engine.withStore { test in
        var random = SeededGenerator(seed: seed)
        var model = Model()
        var uploads = 0
        var refused = 0
        for round in 0..<300 {
          let comment: Comment = "seed \(seed), round \(round)"
          let zone = random.pick([ZoneID.default, ZoneID(zoneName: "a"), ZoneID(zoneName: "b")])
          if !zone.isDefaultZone, random.chance(1, in: 6) {
            if random.chance(1, in: 2) {
              _ = try await test.store.zones.modifyZones(
                [.delete(zone)], in: test.privateID,
                origin: ChangeOrigin(userRecordName: TestStore.alice),
                timestamp: TestStore.time(0))
              model.records = model.records.filter { $0.key.zoneID != zone }
            } else {
              try await test.makeZone(zone.zoneName)
            }
          } else {
            var operations: [RecordOperation] = []
            for _ in 0...Int.random(in: 0..<5, using: &random) {
              var operation = RecordOperation.text(
                "r\(Int.random(in: 0..<12, using: &random))",
                Int.random(in: 0..<2000, using: &random),
                random.chance(1, in: 4) ? .default : zone)
              operation.kind = random.pick(
                [.forceUpdate, .forceUpdate, .forceReplace, .create, .update, .forceDelete])
              if random.chance(1, in: 4) {
                operation.fields["target"] = .some(
                  .reference(
                    Reference(
                      recordName: "r\(Int.random(in: 0..<12, using: &random))",
                      action: .deleteSelf)))
              }
              if random.chance(1, in: 4) {
                uploads += 1
                let content = String(repeating: "f", count: Int.random(in: 1...6, using: &random))
                operation.fields["file"] = .some(
                  .asset(
                    try await test.upload(
                      content, receipt: "receipt \(uploads)", in: test.privateID)))
              }
              operations.append(operation)
            }
            let quota: Int64? = random.chance(1, in: 2) ? 12_000 : nil
            let before = model.bytes
            let outcomes = try await test.modify(
              operations, in: test.privateID, atomic: random.chance(1, in: 2), quota: quota)
            for outcome in outcomes {
              switch outcome {
              case .saved(let record): model.records[record.recordID] = record
              case .deleted(let recordID): model.remove(recordID)
              case .failed(let failure): refused += failure.code == .quotaExceeded ? 1 : 0
              }
            }
            // Of a record that a later deletion took along the store has nothing.
            let ids = Array(model.records.keys)
            for (id, record) in zip(
              ids, try await test.store.records.records(ids, in: test.privateID))
            where record == nil {
              model.records[id] = nil
            }
            if let quota { #expect(model.bytes <= max(quota, before), comment) }
          }
          #expect(
            try await test.store.databases.usage(of: test.privateID)?.bytes == model.bytes, comment)
        }
        #expect(refused > 0)
        // All that is left of a database without records is nothing.
        let rest = model.records.keys.map { RecordOperation(kind: .forceDelete, recordID: $0) }
        _ = try await test.modify(rest, in: test.privateID)
        #expect(try await test.store.databases.usage(of: test.privateID)?.bytes == 0)
      }
    }
  }
}

extension Record {
  /// Bytes of the record as the store keeps it.
  fileprivate var contentSize: Int64 {
    var encoder = RowEncoder()
    encoder.encodeContent(of: self)
    return Int64(encoder.bytes.count)
  }
}

extension RecordOperation {
  /// Saves a record with a text of so many characters.
  fileprivate static func text(
    _ name: String, _ count: Int, _ zone: ZoneID = .default
  ) -> RecordOperation {
    RecordOperation(
      kind: .forceUpdate, recordID: RecordID(recordName: name, zoneID: zone), recordType: "Note",
      fields: ["text": .string(String(repeating: "t", count: count))])
  }
}

extension TestStore {
  fileprivate func modify(
    _ operations: [RecordOperation], in database: DatabaseID, atomic: Bool = false, quota: Int64?
  ) async throws -> [RecordOutcome] {
    var modification = RecordModification(
      database: database, operations: operations, isAtomic: atomic,
      origin: ChangeOrigin(userRecordName: Self.alice), isByAdministrator: true,
      timestamp: Self.time(0))
    modification.quota = quota
    return try await store.records.modifyRecords(modification)
  }
}
