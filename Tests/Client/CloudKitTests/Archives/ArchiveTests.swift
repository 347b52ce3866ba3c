import CloudKit
import PropertyTesting
import Testing

struct ArchiveTests {
  /// The names of classes in an archive.
  private static func classNames(_ data: Data) throws -> Set<String> {
    let list = try PropertyListSerialization.propertyList(from: data, format: nil)
    let objects = (list as? [String: Any])?["$objects"] as? [Any] ?? []
    return Set(objects.compactMap { ($0 as? [String: Any])?["$classname"] as? String })
  }

  @Test("Classes in them have Apple's names")
  func names() throws {
    let record = CKRecord(recordType: "T", recordID: .init(recordName: "r"))
    record["place"] = CLLocation(latitude: 1, longitude: 2)
    record["other"] = CKRecord.Reference(recordID: .init(recordName: "o"), action: .deleteSelf)
    record["file"] = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/a"))
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: [record], requiringSecureCoding: true)
    let names = try Self.classNames(data).filter { !$0.hasPrefix("NS") }
    #expect(
      names == [
        "CKRecord", "CKRecordID", "CKRecordZoneID", "CKRecordValueStore",
        "CKEncryptedRecordValueStore", "CLLocation", "CKReference", "CKAsset",
      ])
  }

  @Test("Each class is written under its own name")
  func nameOfEach() throws {
    let zoneSubscription = CKRecordZoneSubscription(
      zoneID: .init(zoneName: "z"), subscriptionID: "s")
    zoneSubscription.notificationInfo = .init(alertBody: "a")
    let objects: [any NSSecureCoding] = [
      CKRecordZone(zoneName: "z"), zoneSubscription, CKDatabaseSubscription(subscriptionID: "s"),
      CKQuerySubscription(
        recordType: "T", predicate: NSPredicate(value: true), subscriptionID: "s"),
      CKQuery(recordType: "T", predicate: NSPredicate(value: true)), CKOperationGroup(),
      CKLocationSortDescriptor(key: "k", relativeLocation: CLLocation(latitude: 1, longitude: 2)),
    ]
    for object in objects {
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: object, requiringSecureCoding: true)
      #expect(try Self.classNames(data).contains("\(type(of: object))"))
      #expect(try Self.classNames(data).allSatisfy { !$0.contains(".") })
    }
  }

  @Test("Archives from before Apple's names, and with the keys of that time, are read")
  func formerArchives() throws {
    var fixture = ArchiveFixture()
    let zoneName = fixture.add(string: "z")
    let owner = fixture.add(string: "o")
    let zone = fixture.add(
      instanceOf: "CloudKit.CKRecordZoneID", [("zoneName", zoneName), ("ownerName", owner)])
    let name = fixture.add(string: "r")
    fixture.set(
      "root",
      fixture.add(instanceOf: "CloudKit.CKRecordID", [("recordName", name), ("zoneID", zone)]))
    let id = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.ID.self, from: fixture.data)
    #expect(id == CKRecord.ID(recordName: "r", zoneID: .init(zoneName: "z", ownerName: "o")))
  }

  @Test("System fields go through an archiver of the program's own, as apps keep them")
  func systemFields() throws {
    let record = CKRecord(
      recordType: "T", recordID: .init(recordName: "r", zoneID: .init(zoneName: "z")))
    record["field"] = "left out"
    record.parent = CKRecord.Reference(
      recordID: .init(recordName: "p", zoneID: .init(zoneName: "z")), action: .none)
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: archiver)
    archiver.finishEncoding()
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    unarchiver.requiresSecureCoding = true
    let copy = try #require(CKRecord(coder: unarchiver))
    unarchiver.finishDecoding()
    #expect(copy.recordID == record.recordID && copy.recordType == "T")
    #expect(copy.parent == record.parent)
    #expect(copy.allKeys().isEmpty)
  }

  @Test("An archive without a record gives none")
  func noRecord() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.finishEncoding()
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    #expect(CKRecord(coder: unarchiver) == nil)
  }

  @Test("A coder that finds nothing gives a change token, for tests that need one")
  func emptyToken() {
    final class EmptyCoder: NSCoder {
      override func decodeObject(forKey key: String) -> Any? { nil }
    }
    final class Token: CKServerChangeToken, @unchecked Sendable {}
    #expect(Token(coder: EmptyCoder()) != nil)
  }

  @Test(
    "Random objects, alone and in lists and dictionaries, come back equal",
    arguments: Seeds.some(60))
  func roundTrips(seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    let record = random.record()
    let copy = try archivedAndBack(record)
    #expect(copy.recordID == record.recordID && copy.recordType == record.recordType)
    #expect(copy.parent == record.parent)
    #expect(copy.allKeys() == record.allKeys() && copy.changedKeys() == record.changedKeys())
    for key in record.allKeys() {
      let value = record[key] as? NSObject
      #expect(copy[key] as? NSObject == value, "seed \(seed), field \(key)")
    }

    let nested: NSDictionary = [
      "records": [record, random.record()] as NSArray, "zone": random.zoneID(),
      "id": random.recordID(),
    ]
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: nested, requiringSecureCoding: true)
    let classes: [AnyClass] = [
      NSDictionary.self, NSArray.self, NSString.self, CKRecord.self, CKRecord.ID.self,
      CKRecordZone.ID.self,
    ]
    let back = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data) as? NSDictionary)
    #expect(back["zone"] as? CKRecordZone.ID == nested["zone"] as? CKRecordZone.ID)
    #expect(back["id"] as? CKRecord.ID == nested["id"] as? CKRecord.ID)
    #expect((back["records"] as? [CKRecord])?.map(\.recordID).first == record.recordID)
  }
}

extension SeededGenerator {
  fileprivate mutating func text() -> String {
    pick([
      "", "a", "$null", "$null~", "$class", "it's", "日本", "é", "line\nnext", "\u{1F600}", "___x",
    ])
  }

  fileprivate mutating func name() -> String { "n" + text() }

  fileprivate mutating func zoneID() -> CKRecordZone.ID {
    chance(1, in: 3) ? .default : CKRecordZone.ID(zoneName: name(), ownerName: name())
  }

  fileprivate mutating func recordID() -> CKRecord.ID {
    CKRecord.ID(recordName: name(), zoneID: zoneID())
  }

  fileprivate mutating func single(_ kind: Int) -> any CKRecordValue {
    switch kind {
    case 0: text()
    case 1: Int.random(in: .min ... .max, using: &self)
    case 2: Double.random(in: -1e12...1e12, using: &self)
    case 3: Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &self))
    case 4: Data((0..<Int.random(in: 0...9, using: &self)).map { UInt8($0) })
    case 5: CKRecord.Reference(recordID: recordID(), action: chance(1, in: 2) ? .none : .deleteSelf)
    case 6: Bool.random(using: &self)
    default:
      CLLocation(
        latitude: .random(in: -90...90, using: &self),
        longitude: .random(in: -180...180, using: &self))
    }
  }

  fileprivate mutating func record() -> CKRecord {
    let record = CKRecord(recordType: name(), recordID: recordID())
    for index in 0..<Int.random(in: 0...6, using: &self) {
      let kind = Int.random(in: 0...7, using: &self)
      if chance(1, in: 3) {
        let list = (0..<Int.random(in: 0...3, using: &self)).map { _ in single(kind) }
        record.setValue(list, forKey: "list\(index)")
      } else if chance(1, in: 5) {
        record.encryptedValues["secret\(index)"] = text()
      } else {
        record["field\(index)"] = single(kind)
      }
    }
    if chance(1, in: 2) {
      record.setParent(CKRecord.ID(recordName: name(), zoneID: record.recordID.zoneID))
    }
    return record
  }
}
