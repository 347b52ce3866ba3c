import CloudKitModel
import Cryptography
import Foundation
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

extension RecordStoreConformance {
  struct Assets {
    static let engines = StoreEngine.allCases
    static let day: Int64 = 24 * 60 * 60

    @Test(
      "an uploaded file can be saved, and comes back with checksum and size", arguments: engines)
    func upload(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let asset = try await test.upload("hello", receipt: "receipt-1")
        let saved = try await test.save("n", ["file": .asset(asset)])
        let stored = Asset(fileChecksum: TestStore.checksum("hello"), size: 5)
        #expect(saved.fields["file"] == .asset(stored))
        #expect(try await test.record("n") == saved)
        #expect(try await test.bytes(of: stored) == Data("hello".utf8))
        #expect(try await test.bytes(of: Asset(fileChecksum: "other", size: 5)) == nil)
      }
    }

    @Test("a token leads to its upload until a day after its time", arguments: engines)
    func tokens(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let upload = TestStore.announced("receipt-1", field: "file", record: "n", expires: 900)
        try await test.store.assets.addAssetUploads([upload], inZone: .default, of: test.publicID)
        func found(_ database: DatabaseID) async throws -> AssetUpload? {
          try await test.store.assets.assetUpload(withTokenHash: upload.tokenHash, in: database)
        }
        #expect(try await found(test.publicID) == upload)
        #expect(try await found(test.privateID) == nil)
        try await test.store.maintenance.trim(at: TestStore.time(900 + Self.day - 1))
        #expect(try await found(test.publicID) == upload)
        try await test.store.maintenance.trim(at: TestStore.time(900 + Self.day))
        #expect(try await found(test.publicID) == nil)
      }
    }

    @Test("uploads need a zone that exists", arguments: engines)
    func zone(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let upload = TestStore.announced("receipt-1", field: "file")
        let failure = await #expect(throws: ItemFailure.self) {
          try await test.store.assets.addAssetUploads(
            [upload], inZone: ZoneID(zoneName: "Nowhere"), of: test.privateID)
        }
        #expect(failure?.code == .zoneNotFound)
        let zone = try await test.makeZone("Notes")
        try await test.store.assets.addAssetUploads([upload], inZone: zone, of: test.privateID)
      }
    }

    @Test("an asset that was not uploaded for the field is refused, by name", arguments: engines)
    func receipts(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let asset = try await test.upload("hello", receipt: "receipt-1", record: "n")
        var unknown = asset
        unknown.receipt = "receipt-2"
        var bare = asset
        bare.receipt = nil
        var other = asset
        other.fileChecksum = TestStore.checksum("other")
        try await test.store.assets.addAssetUploads(
          [TestStore.announced("receipt-3", field: "file")], inZone: .default, of: test.publicID)
        var unfinished = asset
        unfinished.receipt = "receipt-3"
        let cases: [(String, String, String, String, Asset, String)] = [
          ("n", "Note", "file", TestStore.bob, asset, "did not give to this user"),
          ("n", "Note", "file", TestStore.alice, unknown, "did not give to this user"),
          ("n", "Note", "other", TestStore.alice, asset, "for the field 'file', not 'other'"),
          ("n", "Memo", "file", TestStore.alice, asset, "record type 'Note', not 'Memo'"),
          ("m", "Note", "file", TestStore.alice, asset, "for the record 'n', not 'm'"),
          ("n", "Note", "file", TestStore.alice, bare, "has no receipt"),
          ("n", "Note", "file", TestStore.alice, other, "has the fileChecksum"),
          ("n", "Note", "file", TestStore.alice, unfinished, "was not finished"),
        ]
        for (record, type, field, user, asset, text) in cases {
          let outcome = try await test.modify(
            [
              RecordOperation(
                kind: .forceUpdate, recordID: RecordID(recordName: record), recordType: type,
                fields: [field: .asset(asset)])
            ], by: user)[0]
          #expect(outcome.failure?.code == .invalid)
          #expect(outcome.failure?.field == field)
          let reason = outcome.failure?.reason ?? ""
          #expect(reason.contains(text) && reason.contains("'\(field)'"), "\(reason)")
          #expect(try await test.record(record) == nil)
        }
        try await test.save("n", ["file": .asset(asset)])
      }
    }

    @Test("what a field holds may be saved in it again without a receipt", arguments: engines)
    func heldAsset(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let first = try await test.upload("one", receipt: "receipt-1", field: "files")
        let second = try await test.upload("two", receipt: "receipt-2", field: "files")
        let list = RecordValue.list(of: .asset, [.asset(first), .asset(second)])
        let saved = try await test.save("n", ["files": list])
        guard case .list(_, let held)? = saved.fields["files"] else {
          Issue.record("\(saved)")
          return
        }
        let again = try await test.save("n", ["files": .list(of: .asset, [held[1], held[0]])])
        #expect(again.fields["files"] == .list(of: .asset, [held[1], held[0]]))
        let elsewhere = try await test.modify([
          RecordOperation(
            kind: .forceUpdate, recordID: RecordID(recordName: "m"), recordType: "Note",
            fields: ["files": again.fields["files"]])
        ])[0]
        #expect(elsewhere.failure?.code == .invalid)
      }
    }

    @Test("a rereferenced asset may be saved in any record of the user's", arguments: engines)
    func rereference(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let asset = try await test.upload("hello", receipt: "receipt-1")
        try await test.save("n", ["file": .asset(asset), "title": .string("x")])
        func rereference(_ places: [(String, String)]) async throws -> [Asset] {
          try await test.store.assets.rereferenceAssets(
            places.map { AssetPlace(recordName: $0.0, fieldName: $0.1) }, inZone: .default,
            of: test.publicID, for: TestStore.bob, timestamp: TestStore.time(0),
            makeReceipt: { UUID().uuidString })
        }
        let receipts = try await rereference([("n", "file")])
        #expect(receipts.map(\.fileChecksum) == [asset.fileChecksum])
        let copy = try await test.save(
          "m", type: "Memo", ["scan": .asset(receipts[0])], by: TestStore.bob)
        #expect(copy.fields["scan"] == .asset(Asset(fileChecksum: asset.fileChecksum, size: 5)))
        for places in [[("n", "file"), ("x", "file")], [("n", "title")], [("n", "nothing")]] {
          let failure = await #expect(throws: ItemFailure.self) {
            _ = try await rereference(places)
          }
          #expect(failure?.reason.contains(places.last?.0 ?? "") == true)
        }
        _ = try await test.delete("n")
        try await test.collectOrphans()
        #expect(try await test.bytes(of: asset) == Data("hello".utf8))
        _ = try await test.delete("m")
        try await test.collectOrphans()
        #expect(try await test.bytes(of: asset) == nil)
      }
    }

    @Test("a file goes an hour after nobody holds it, and with it its bytes", arguments: engines)
    func orphans(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let never = try await test.upload("never", receipt: "receipt-0")
        let first = try await test.upload("one", receipt: "receipt-1")
        let second = try await test.upload("two", receipt: "receipt-2")
        try await test.save("n", ["file": .asset(first)])
        try await test.save("n", ["file": .asset(second)])
        for seconds in [0, Self.day - 1] {
          try await test.store.maintenance.trim(at: TestStore.time(900 + seconds))
          for asset in [never, first, second] {
            #expect(try await test.bytes(of: asset) != nil, "after \(seconds) seconds")
          }
        }
        try await test.store.maintenance.trim(at: TestStore.time(900 + Self.day))
        try await test.store.maintenance.trim(at: TestStore.time(900 + Self.day + 3599))
        #expect(try await test.bytes(of: first) != nil)
        try await test.store.maintenance.trim(at: TestStore.time(900 + Self.day + 3600))
        #expect(try await test.bytes(of: never) == nil)
        #expect(try await test.bytes(of: first) == nil)
        #expect(try await test.bytes(of: second) == Data("two".utf8))
        try await test.save("n", ["file": nil])
        try await test.collectOrphans()
        #expect(try await test.bytes(of: second) == nil)
        #expect(try await test.storedFileCount() == 0)
      }
    }

    @Test("files of deleted records and zones go, those of others stay", arguments: engines)
    func deletions(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("Notes")
        func save(_ name: String, _ content: String, zone: ZoneID) async throws -> Asset {
          let asset = try await test.upload(
            content, receipt: "receipt-\(name)", zone: zone, in: test.privateID)
          try await test.save(
            name, ["file": .asset(asset)], zone: zone, in: test.privateID)
          return asset
        }
        let inZone = try await save("a", "a", zone: zone)
        let deleted = try await save("b", "b", zone: .default)
        let kept = try await save("c", "c", zone: .default)
        _ = try await save("d", "c", zone: .default)
        _ = try await test.delete("b", in: test.privateID)
        _ = try await test.delete("d", in: test.privateID)
        _ = try await test.store.zones.modifyZones(
          [.delete(zone)], in: test.privateID,
          origin: ChangeOrigin(userRecordName: TestStore.alice), timestamp: TestStore.time(1))
        try await test.collectOrphans()
        #expect(try await test.bytes(of: inZone, in: test.privateID) == nil)
        #expect(try await test.bytes(of: deleted, in: test.privateID) == nil)
        #expect(try await test.bytes(of: kept, in: test.privateID) == Data("c".utf8))
        #expect(try await test.storedFileCount() == 1)
      }
    }

    @Test(
      "a save that fails, or is undone with its batch, leaves holders as they were",
      arguments: engines)
    func undone(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let zone = try await test.makeZone("Notes")
        let first = try await test.upload(
          "one", receipt: "receipt-1", zone: zone, in: test.privateID)
        try await test.save("n", ["file": .asset(first)], zone: zone, in: test.privateID)
        let outcomes = try await test.modify(
          [
            RecordOperation(
              kind: .forceUpdate, recordID: RecordID(recordName: "n", zoneID: zone),
              fields: ["file": nil]),
            RecordOperation(kind: .update, recordID: RecordID(recordName: "x", zoneID: zone)),
          ], in: test.privateID, atomic: true)
        #expect(outcomes.map(\.summary) == ["atomic", "notFound"])
        try await test.collectOrphans()
        #expect(try await test.bytes(of: first, in: test.privateID) == Data("one".utf8))
      }
    }

    @Test(
      "equal files of a database are kept once, and go with their last holder",
      arguments: engines)
    func equalFiles(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        for name in ["a", "b", "c"] {
          let asset = try await test.upload("same", receipt: "receipt-\(name)")
          try await test.save(name, ["file": .asset(asset), "copy": .string(name)])
        }
        #expect(try await test.storedFileCount() == 1)
        let asset = Asset(fileChecksum: TestStore.checksum("same"), size: 4)
        for name in ["a", "b"] {
          _ = try await test.delete(name)
          try await test.collectOrphans()
          #expect(try await test.bytes(of: asset) == Data("same".utf8))
        }
        _ = try await test.delete("c")
        try await test.collectOrphans()
        #expect(try await test.storedFileCount() == 0)
      }
    }

    @Test("an upload may be repeated with the same bytes, and not with others", arguments: engines)
    func repeated(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let asset = try await test.upload("one", receipt: "receipt-1")
        try await test.finish("one", receipt: "receipt-1")
        let failure = await #expect(throws: ItemFailure.self) {
          try await test.finish("two", receipt: "receipt-1")
        }
        #expect(failure?.code == .conflict)
        #expect(try await test.bytes(of: asset) == Data("one".utf8))
        let unknown = await #expect(throws: ItemFailure.self) {
          try await test.finish("one", receipt: "receipt-2")
        }
        #expect(unknown?.code == .notFound)
        #expect(try await test.storedFileCount() == 1)
      }
    }

    @Test("uploads of equal files at the same time leave one file", arguments: engines)
    func concurrent(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let content = String(repeating: "x", count: 100_000)
        try await withThrowingTaskGroup { group in
          for number in 0..<8 {
            group.addTask { _ = try await test.upload(content, receipt: "receipt-\(number)") }
          }
          try await group.waitForAll()
        }
        let asset = Asset(fileChecksum: TestStore.checksum(content), size: 100_000)
        try await test.save(
          "n",
          [
            "file": .asset(
              Asset(fileChecksum: asset.fileChecksum, size: 0, receipt: "receipt-3"))
          ])
        try await test.store.maintenance.trim(at: TestStore.time(0))
        #expect(try await test.storedFileCount() == 1)
        #expect(try await test.bytes(of: asset) == Data(content.utf8))
        try await test.collectOrphans()
        #expect(try await test.bytes(of: asset) == Data(content.utf8))
      }
    }

    @Test("a file whose upload was not recorded goes with its receipt", arguments: engines)
    func unrecorded(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let upload = TestStore.announced("receipt-1", field: "file")
        try await test.store.assets.addAssetUploads([upload], inZone: .default, of: test.publicID)
        try await test.store.assets.files.keep(
          .data(Data("lost".utf8)), as: AssetName(database: test.publicID, file: "receipt-1"))
        #expect(try await test.storedFileCount() == 1)
        try await test.collectOrphans()
        #expect(try await test.storedFileCount() == 0)
      }
    }

    @Test("a secret is made once, unless it is replaced", arguments: engines)
    func secrets(_ engine: StoreEngine) async throws {
      try await engine.withStore { test in
        let first = try await test.store.secrets.secret(named: "a", proposing: [1, 2])
        let second = try await test.store.secrets.secret(named: "a", proposing: [3])
        let other = try await test.store.secrets.secret(named: "b", proposing: [3])
        #expect([first, second, other] == [[1, 2], [1, 2], [3]])
        #expect(try await test.store.secrets.secret(named: "a") == [1, 2])
        #expect(try await test.store.secrets.secret(named: "c") == nil)
        for value: [UInt8] in [[4], [5, 6]] {
          try await test.store.secrets.replaceSecret(named: "c", by: value)
          #expect(try await test.store.secrets.secret(named: "c") == value)
        }
      }
    }
  }
}

extension TestStore {
  /// Stands for the SHA-256 that the server counts.
  static func checksum(_ content: String) -> String {
    SHA256.hash(content.utf8).hexadecimal
  }

  static func announced(
    _ receipt: String, field: String, type: String = "Note", record: String? = nil,
    by user: String = alice, expires: Int64 = 900
  ) -> AssetUpload {
    AssetUpload(
      receipt: receipt, tokenHash: Array("token of \(receipt)".utf8), userRecordName: user,
      recordName: record, recordType: type, fieldName: field, expires: time(expires))
  }

  /// Announces an upload and carries it out.
  func upload(
    _ content: String, receipt: String, field: String = "file", record: String? = nil,
    by user: String = alice, zone: ZoneID = .default, in database: DatabaseID? = nil
  ) async throws -> Asset {
    try await store.assets.addAssetUploads(
      [Self.announced(receipt, field: field, record: record, by: user)], inZone: zone,
      of: database ?? publicID)
    return try await finish(content, receipt: receipt, in: database)
  }

  @discardableResult
  func finish(
    _ content: String, receipt: String, in database: DatabaseID? = nil
  ) async throws -> Asset {
    let file = AssetFile(
      checksum: Self.checksum(content), size: Int64(content.utf8.count))
    try await store.assets.finishAssetUpload(
      withReceipt: receipt, in: database ?? publicID, bytes: .data(Data(content.utf8)),
      file: file, check: { _ in })
    return Asset(fileChecksum: file.checksum, size: file.size, receipt: receipt)
  }

  func bytes(of asset: Asset, in database: DatabaseID? = nil) async throws -> Data? {
    guard
      let name = try await store.assets.assetName(
        forChecksum: asset.fileChecksum, seenBy: nil, in: database ?? publicID)
    else { return nil }
    let reader = try #require(try await store.assets.files.open(name))
    #expect(reader.size == asset.size || asset.size == 0)
    return try await reader.read(at: 0, count: Int(reader.size))
  }

  /// Trims so late that no receipt counts any more and every file without a holder goes.
  func collectOrphans() async throws {
    let late: Int64 = 30 * 60 * 60
    for hours in [Int64(0), 2] {
      try await store.maintenance.trim(at: Self.time(late + hours * 3600))
    }
  }

  func storedFileCount() async throws -> Int {
    if let memory = store.assets.files as? MemoryAssetStore { return memory.count }
    let arrivals = try #require(store.assets.files.arrivals)
    let folder = (arrivals as NSString).deletingLastPathComponent
    let files = FileManager.default.enumerator(atPath: folder)
    return files?.filter { path in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(folder)/\(path)", isDirectory: &isFolder)
        && !isFolder.boolValue
    }.count ?? 0
  }
}
