import CloudKit
import Foundation
import Testing

struct RecordTests {
  @Test("A new record has a type, an ID, and nothing else")
  func newRecord() {
    let type: CKRecord.RecordType = "Note"
    let record = CKRecord(recordType: type)
    #expect(record.recordType == "Note" && UUID(uuidString: record.recordID.recordName) != nil)
    #expect(record.recordID.zoneID == .default)
    #expect(record.recordChangeTag == nil && record.creatorUserRecordID == nil)
    #expect(record.creationDate == nil && record.modificationDate == nil)
    #expect(record.lastModifiedUserRecordID == nil && record.share == nil && record.parent == nil)
    #expect(record.allKeys().isEmpty && record.changedKeys().isEmpty)
    let named = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
    #expect(named.recordID == CKRecord.ID(recordName: "n"))
  }

  @available(*, deprecated)
  @Test("The initializer with a zone makes a name")
  func recordInZone() {
    let zoneID = CKRecordZone.ID(zoneName: "Work")
    #expect(CKRecord(recordType: "Note", zoneID: zoneID).recordID.zoneID == zoneID)
  }

  @Test("Fields are written and read in all the ways that apps do")
  func fields() throws {
    let record = CKRecord(recordType: "Note")
    let key: CKRecord.FieldKey = "title"
    record[key] = "Hello"
    record["count"] = 3
    record["rating"] = 4.5
    record["done"] = true
    record["date"] = Date(timeIntervalSince1970: 0)
    record["data"] = Data([1, 2])
    record["tags"] = ["a", "b"]
    record["place"] = CLLocation(latitude: 1, longitude: 2)
    record["author"] = "Ada" as CKRecordValue
    record["old"] = "x" as NSString
    record["number"] = NSNumber(value: 7)
    record["list"] = [1, 2] as NSArray
    record["when"] = Date(timeIntervalSince1970: 1) as NSDate
    record["bytes"] = Data([3]) as NSData
    record.setObject("set" as CKRecordValue?, forKey: "object")
    record["other"] = CKRecord.Reference(
      recordID: CKRecord.ID(recordName: "o"), action: .deleteSelf)
    let optional: String? = nil
    record["nothing"] = optional

    let title: String? = record["title"]
    #expect(title == "Hello" && record["count"] as? Int == 3 && record["rating"] as? Double == 4.5)
    #expect(record["done"] as? Bool == true && record["count"] as? Double == 3)
    #expect(record["date"] as! Date == Date(timeIntervalSince1970: 0))
    #expect(record["data"] as? Data == Data([1, 2]) && record["bytes"] as? Data == Data([3]))
    #expect(record["tags"] as? [String] ?? [] == ["a", "b"])
    #expect((record["place"] as? CLLocation)?.coordinate.longitude == 2)
    #expect(record.object(forKey: "author") as? String == "Ada")
    #expect(record["old"] as? String == "x" && record["number"] as? Int == 7)
    #expect(record["list"] as? [Int] == [1, 2] && record["object"] as? String == "set")
    #expect((record["other"] as? CKRecord.Reference)?.action == .deleteSelf)
    #expect(record["nothing"] == nil && record.value(forKey: "title") as? String == "Hello")
    record.setValue("again", forKey: "title")
    #expect(record.value(forKey: "title") as? String == "again")
    #expect(record.changedKeys().contains("nothing") && !record.allKeys().contains("nothing"))

    record["title"] = nil
    #expect(!record.allKeys().contains("title") && record.changedKeys().contains("title"))
    var names: [String] = []
    for (key, value) in record {
      let value: any CKRecordValueProtocol = value
      #expect(record[key] != nil && "\(value)" != "")
      names.append(key)
    }
    #expect(names == record.allKeys())
    var iterator: CKRecordKeyValueIterator = record.makeIterator()
    #expect(iterator.next()?.0 == names.first)
  }

  @Test("Every type of value that a record takes is one by its type")
  func valueTypes() {
    func isValue<Value: CKRecordValueProtocol>(_: Value.Type) -> Bool { true }
    #expect(isValue(String.self) && isValue(Date.self) && isValue(Data.self) && isValue(Bool.self))
    #expect(isValue(Double.self) && isValue(Float.self) && isValue(Int.self) && isValue(UInt.self))
    #expect(isValue(Int8.self) && isValue(Int16.self) && isValue(Int32.self))
    #expect(isValue(Int64.self) && isValue(UInt8.self) && isValue(UInt16.self))
    #expect(isValue(UInt32.self) && isValue(UInt64.self) && isValue([String].self))
    #expect(isValue(NSString.self) && isValue(NSDate.self) && isValue(NSData.self))
    #expect(isValue(NSNumber.self) && isValue(NSArray.self) && isValue(CKAsset.self))
    #expect(isValue(CKRecord.Reference.self) && isValue(CLLocation.self))
  }

  @Test("Encrypted values are set like fields")
  func encryptedValues() {
    let record = CKRecord(recordType: "Note")
    let values: any CKRecordKeyValueSetting & Sendable = record.encryptedValues
    values["secret"] = "s"
    values.setObject(5 as CKRecordValue, forKey: "code")
    let secret: String? = record.encryptedValues["secret"]
    #expect(secret == "s" && values.object(forKey: "code") as? Int == 5)
    #expect(values.allKeys() == ["code", "secret"] && values.changedKeys() == ["code", "secret"])
  }

  @Test("A function can take records and encrypted values alike")
  func keyValueSetting() {
    func fill(_ target: some CKRecordKeyValueSetting) { target["name"] = "n" }
    let record = CKRecord(recordType: "Note")
    fill(record)
    #expect(record.allKeys() == ["name"])
  }

  @Test("Parents, tokens, system fields and copies")
  func hierarchy() throws {
    let folder = CKRecord(recordType: "Folder", recordID: CKRecord.ID(recordName: "f"))
    let record = CKRecord(recordType: "Note")
    record.setParent(folder)
    #expect(
      record.parent?.recordID == folder.recordID
        && record.parent?.action == CKRecord.ReferenceAction.none)
    record.setParent(nil as CKRecord.ID?)
    #expect(record.parent == nil)
    record.setParent(folder.recordID)
    record.parent = CKRecord.Reference(record: folder, action: .none)
    #expect(record.parent == CKRecord.Reference(recordID: folder.recordID, action: .none))

    record["text"] = "some words"
    #expect(record.allTokens() == ["some", "words"])
    let copy = try #require(record.copy() as? CKRecord)
    copy["text"] = "others"
    #expect(record["text"] as? String == "some words")

    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: archiver)
    archiver.finishEncoding()
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    unarchiver.requiresSecureCoding = true
    guard let restored = CKRecord(coder: unarchiver) else {
      Issue.record("no record")
      return
    }
    #expect(restored.recordID == record.recordID && restored.allKeys().isEmpty)
    #expect(CKRecord.supportsSecureCoding && "\(record)".contains("Note"))
    #expect(record.debugDescription == record.description)
  }

  @Test("System types and fields have Apple's names")
  func systemNames() {
    #expect(CKRecord.SystemType.userRecord == "Users")
    #expect(CKRecord.SystemType.share == "cloudkit.share")
    let keys: [CKRecord.FieldKey] = [
      CKRecord.SystemFieldKey.recordID, CKRecord.SystemFieldKey.creatorUserRecordID,
      CKRecord.SystemFieldKey.creationDate, CKRecord.SystemFieldKey.lastModifiedUserRecordID,
      CKRecord.SystemFieldKey.modificationDate, CKRecord.SystemFieldKey.parent,
      CKRecord.SystemFieldKey.share,
    ]
    #expect(
      keys == [
        "___recordID", "___createdBy", "___createTime", "___modifiedBy", "___modTime", "___parent",
        "___share",
      ])
  }

  @Test("A test's record class decides on what the server would set")
  func mock() {
    class MockRecord: CKRecord, @unchecked Sendable {
      override var recordChangeTag: String? { self["tag"] as? String }
      override var creationDate: Date? { self["created"] as? Date }
      override var modificationDate: Date? { self["modified"] as? Date }
      override var creatorUserRecordID: CKRecord.ID? { .init(recordName: "me") }
      override class var supportsSecureCoding: Bool { true }
    }
    let record = MockRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
    record["tag"] = "t"
    record["created"] = Date(timeIntervalSince1970: 5)
    let plain: CKRecord = record
    #expect(plain.recordChangeTag == "t" && plain.creationDate == Date(timeIntervalSince1970: 5))
    #expect(plain.modificationDate == nil && plain.creatorUserRecordID?.recordName == "me")
  }
}

struct IdentifierTests {
  @Test("Record IDs are values")
  func recordIDs() throws {
    let zoneID = CKRecordZone.ID(zoneName: "Work", ownerName: "_owner")
    let id = CKRecord.ID(recordName: "n", zoneID: zoneID)
    #expect(id == CKRecord.ID(recordName: "n", zoneID: zoneID) && id.zoneID == zoneID)
    #expect(Set([id, CKRecord.ID(recordName: "n", zoneID: zoneID)]).count == 1)
    #expect(id != CKRecord.ID(recordName: "n") && CKRecord.ID().recordName.count == 36)
    #expect(id.copy() as? CKRecord.ID == id)
    let data = try NSKeyedArchiver.archivedData(withRootObject: id, requiringSecureCoding: true)
    #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.ID.self, from: data) == id)
  }

  @Test("Zones and their IDs")
  func zones() throws {
    #expect(CKRecordZone.default().zoneID == CKRecordZone.ID.default)
    #expect(CKRecordZone.ID.default.zoneName == CKRecordZone.ID.defaultZoneName)
    #expect(CKRecordZone.ID.defaultZoneName == "_defaultZone")
    #expect(CKRecordZone.ID.default.ownerName == "__defaultOwner__")
    #expect(CKRecordZone.ID() == .default)
    let zone = CKRecordZone(zoneName: "Work")
    #expect(zone.zoneID.ownerName == CKCurrentUserDefaultName && zone.share == nil)
    #expect(zone.capabilities.isEmpty && zone.encryptionScope == .perRecord)
    zone.encryptionScope = .perZone
    let data = try NSKeyedArchiver.archivedData(withRootObject: zone, requiringSecureCoding: true)
    let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecordZone.self, from: data)
    #expect(back?.encryptionScope == .perZone && back?.zoneID == zone.zoneID)
    #expect((zone.copy() as? CKRecordZone)?.encryptionScope == .perZone)
    #expect(CKRecordZone(zoneID: zone.zoneID).zoneID == zone.zoneID)
    let all: [CKRecordZone.Capabilities] = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
    #expect(all.map(\.rawValue) == [1, 2, 4, 8])
    #expect(CKRecordZone.Capabilities(rawValue: 3) == [.fetchChanges, .atomic])
    #expect(CKRecordZone.EncryptionScope(rawValue: 1) == .perZone)
    #expect(zone.zoneID.copy() as? CKRecordZone.ID == zone.zoneID)
  }

  @available(*, deprecated)
  @Test("An owner that may be nil is the current user then")
  func optionalOwner() {
    let owner: String? = nil
    #expect(CKRecordZone.ID(zoneName: "Work", ownerName: owner).ownerName == CKOwnerDefaultName)
  }

  @Test("References point at records")
  func references() throws {
    let record = CKRecord(recordType: "Note")
    let reference = CKRecord.Reference(record: record, action: .deleteSelf)
    #expect(reference.recordID == record.recordID && reference.action == .deleteSelf)
    #expect(CKRecord.ReferenceAction.none.rawValue == 0)
    #expect(CKRecord.ReferenceAction(rawValue: 1) == .deleteSelf)
    #expect(reference.copy() as? CKRecord.Reference == reference)
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: reference, requiringSecureCoding: true)
    let back = try NSKeyedUnarchiver.unarchivedObject(
      ofClass: CKRecord.Reference.self, from: data)
    #expect(back == reference)
  }

  @available(*, deprecated)
  @Test("The old name of a reference's action")
  func referenceAction() {
    let action: CKRecord.Reference.Action = .none
    #expect(action.rawValue == 0)
  }

  @Test("An asset is a file")
  func assets() {
    let url = URL(fileURLWithPath: "/tmp/picture.png")
    let asset = CKAsset(fileURL: url)
    #expect(asset.fileURL == url)
    let record = CKRecord(recordType: "Note")
    record["picture"] = asset
    let read: CKAsset? = record["picture"]
    #expect(read?.fileURL == url)
  }

  @Test("Constants have Apple's values")
  func constants() {
    #expect(CKCurrentUserDefaultName == "__defaultOwner__")
    #expect(CKRecordNameZoneWideShare == "cloudkit.zoneshare")
  }
}
