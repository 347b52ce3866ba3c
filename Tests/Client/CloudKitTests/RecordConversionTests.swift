import CloudKit
import CloudKitModel
import Testing

struct RecordConversionTests {
  @Test("Each value has one stored form")
  func values() throws {
    let cases: [(any CKRecordValueProtocol, RecordValue)] = [
      ("x", .string("x")),
      (true, .int64(1)),
      (Int64.max, .int64(.max)),
      (UInt64(7), .int64(7)),
      (3.0, .double(3)),
      (Float(0.5), .double(0.5)),
      (NSNumber(value: 3.0), .double(3)),
      (Date(timeIntervalSince1970: 1.2345), .timestamp(Timestamp(milliseconds: 1235))),
      (Data([1]), .bytes(Data([1]))),
      (["a"], .list(of: .string, [.string("a")])),
      ([1, 2], .list(of: .int64, [.int64(1), .int64(2)])),
      ([1, 2.5] as NSArray, .list(of: .double, [.double(1), .double(2.5)])),
      ([String](), .list(of: .string, [])),
    ]
    for (value, stored) in cases {
      let record = CKRecord(recordType: "T")
      record["f"] = value
      #expect(try record.model().fields["f"] == stored)
    }
  }

  @Test(
    "A date that is not finite or out of range is refused, also in lists, locations, encrypted fields and predicates",
    arguments: [Double.nan, .infinity, -.infinity, 8_640_000_000_001, -1e30])
  func impossibleDates(seconds: Double) {
    let date = Date(timeIntervalSince1970: seconds)
    let values: [any CKRecordValueProtocol] = [
      date, [Date(), date],
      CLLocation(
        coordinate: .init(latitude: 1, longitude: 2), altitude: 0, horizontalAccuracy: 0,
        verticalAccuracy: 0, timestamp: date),
    ]
    for value in values {
      for isEncrypted in [false, true] {
        let record = CKRecord(recordType: "T")
        if isEncrypted { record.encryptedValues["f"] = value } else { record["f"] = value }
        let error = #expect(throws: CKError.self) { try record.model() }
        #expect(error?.code == .invalidArguments)
        #expect(error?.localizedDescription.contains("the date in the field 'f'") == true)
      }
    }
    #expect(throws: CKError.self) {
      try CKQuery(recordType: "T", predicate: NSPredicate(format: "f < %@", date)).model(
        now: Timestamp(milliseconds: 0))
    }
  }

  @Test("A value that cannot be stored is refused with its field's name")
  func refusals() throws {
    let cases: [(any CKRecordValueProtocol, String)] = [
      (UInt64.max, "the number 18446744073709551615 in the field 'f' is larger than"),
      (["a", 1] as NSArray, "the list in the field 'f' mixes types: INT64, STRING"),
      (
        [[1], [2]],
        "the list in the field 'f' contains another list, which CloudKit does not support"
      ),
      ([NSNull()] as NSArray, "the field 'f' cannot hold a value of type NSNull"),
    ]
    for (value, message) in cases {
      let record = CKRecord(recordType: "T")
      record["f"] = value
      let error = #expect(throws: CKError.self) { try record.model() }
      #expect(error?.code == .invalidArguments)
      #expect(error?.localizedDescription.hasPrefix(message) == true, "\(error as Any)")
    }
  }

  @Test("An asset is stored once it was uploaded")
  func assets() throws {
    let record = CKRecord(recordType: "T")
    let asset = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/a"))
    record["one"] = asset
    record["many"] = [asset]
    #expect(record.assets().map(\.key) == ["many", "one"])
    let error = #expect(throws: CKError.self) { try record.model() }
    #expect(error?.code == .assetNotAvailable)
    let stored = Asset(fileChecksum: "c", size: 1)
    asset.storedAsset = stored
    let model = try record.model()
    #expect(model.fields["one"] == .asset(stored))
    let fetched = CKRecord(model) {
      CKAsset(fileURL: URL(fileURLWithPath: "/tmp/b"), stored: $0)
    }
    #expect((fetched["one"] as? CKAsset)?.fileURL?.path == "/tmp/b")
    #expect((fetched["many"] as? [CKAsset])?.count == 1)
  }

  @Test("A record becomes the model's and comes back the same")
  func roundTrip() throws {
    let zoneID = ZoneID(zoneName: "Z", ownerName: "_o")
    let model = Record(
      recordID: RecordID(recordName: "r", zoneID: zoneID), recordType: "T",
      recordChangeTag: "1",
      created: .init(timestamp: Timestamp(milliseconds: 1), userRecordName: "_a"),
      modified: .init(timestamp: Timestamp(milliseconds: 2), userRecordName: "_b"),
      parent: Reference(recordName: "p", zoneID: zoneID),
      share: Reference(recordName: "s", zoneID: zoneID),
      fields: [
        "string": .string("x"), "int": .int64(-1), "double": .double(5),
        "when": .timestamp(Timestamp(milliseconds: 1234)), "bytes": .bytes(Data([0])),
        "place": .location(
          Location(
            latitude: 1, longitude: 2, horizontalAccuracy: 3, verticalAccuracy: 4, altitude: 5,
            speed: 6, course: 7, timestamp: Timestamp(milliseconds: 8))),
        "reference": .reference(
          Reference(recordName: "q", zoneID: zoneID, action: .deleteSelf)),
        "list": .list(of: .double, [.double(1), .double(2)]),
      ])
    #expect(try CKRecord(model).model() == model)
  }

  @Test("A save of the changed fields holds those and the names of the removed ones")
  func changes() throws {
    let record = CKRecord(
      Record(
        recordID: RecordID(recordName: "r"), recordType: "T", recordChangeTag: "1",
        fields: ["a": .int64(1), "b": .int64(2), "c": .int64(3)]))
    record["a"] = 10
    record["b"] = nil
    let changes = try record.changes()
    #expect(changes.record.fields == ["a": .int64(10)])
    #expect(changes.removedKeys == ["b"])
    #expect(!changes.isParentChanged)
    record.parent = nil
    #expect(try record.changes().isParentChanged)
  }
}
