import CloudKit
import Testing

struct AppleArchiveTests {
  @Test("The module's classes are known by Apple's names before anything of it is called")
  func namesAreRegistered() {
    let names = [
      "CKRecord", "CKRecordID", "CKRecordZone", "CKRecordZoneID", "CKReference", "CKAsset",
      "CKServerChangeToken", "CKQuery", "CKQueryCursor", "CKNotificationInfo", "CKNotificationID",
      "CKQuerySubscription", "CKRecordZoneSubscription", "CKDatabaseSubscription",
      "CKOperationGroup", "CKLocationSortDescriptor",
    ]
    for name in names {
      #expect(NSKeyedUnarchiver.class(forClassName: name).map { "\($0)" } == name)
    }
  }

  @Test("A record's system fields are read")
  func systemFields() throws {
    var fixture = ArchiveFixture()
    let zoneID = fixture.addZoneID("Notes", owner: "__defaultOwner__")
    let users = fixture.addZoneID("_defaultZone", owner: "__defaultOwner__")
    fixture.set("RecordType", fixture.add(string: "Note"))
    fixture.set("RecordID", fixture.addRecordID("note-1", zoneID: zoneID))
    fixture.set("ETag", fixture.add(string: "mfxq1"))
    fixture.set("RecordCtime", fixture.add(date: 780_000_000.25))
    fixture.set("RecordMtime", fixture.add(date: 780_000_100.5))
    let user = fixture.addRecordID("__defaultOwner__", zoneID: users)
    fixture.set("CreatorUserRecordID", user)
    fixture.set("LastModifiedUserRecordID", user)
    fixture.set("ModifiedByDevice", fixture.add(string: "A computer"))
    fixture.set("KnownToServer", "<true/>")
    fixture.set("ParentReference", ArchiveFixture.null)
    fixture.set("ShareReference", ArchiveFixture.null)

    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: fixture.data)
    unarchiver.requiresSecureCoding = true
    let record = try #require(CKRecord(coder: unarchiver))
    unarchiver.finishDecoding()

    #expect(unarchiver.error == nil)
    #expect(record.recordType == "Note")
    #expect(record.recordID == CKRecord.ID(recordName: "note-1", zoneID: .init(zoneName: "Notes")))
    #expect(record.recordChangeTag == "mfxq1")
    #expect(record.creationDate == Date(timeIntervalSinceReferenceDate: 780_000_000.25))
    #expect(record.modificationDate == Date(timeIntervalSinceReferenceDate: 780_000_100.5))
    #expect(record.creatorUserRecordID?.recordName == "__defaultOwner__")
    #expect(record.lastModifiedUserRecordID?.zoneID == .default)
    #expect(record.parent == nil && record.share == nil)
    #expect(record.allKeys().isEmpty && record.changedKeys().isEmpty)
  }

  @Test("A whole record is read: its fields, which of them changed, and its asset")
  func wholeRecord() throws {
    var fixture = ArchiveFixture()
    let zoneID = fixture.addZoneID("_defaultZone", owner: "__defaultOwner__")
    let recordID = fixture.addRecordID("person-1", zoneID: zoneID)
    let file = fixture.add(
      instanceOf: "NSURL",
      [
        ("NS.base", ArchiveFixture.null),
        ("NS.relative", fixture.add(string: "file:///tmp/avatar.png")),
      ])
    let avatar = fixture.add(
      instanceOf: "CKAsset",
      [
        ("AssetFileURL", file), ("AssetSize", "<integer>931862</integer>"),
        ("AssetSignature", fixture.add("<data>AexO</data>")), ("RecordID", recordID),
        ("WasCached", "<false/>"),
      ])
    let values = fixture.add(
      dictionary: [
        ("name", fixture.add(string: "Anna")), ("age", fixture.add("<integer>26</integer>")),
        ("isDeveloper", fixture.add("<true/>")), ("born", fixture.add(date: -978_307_200)),
        ("avatar", avatar),
      ])
    let before = fixture.add(
      dictionary: [("age", fixture.add(instanceOf: "NSNull", []))])
    let changed = fixture.add(
      instanceOf: "NSMutableSet",
      [("NS.objects", "<array>\(fixture.add(string: "age"))</array>")])
    let none = fixture.add(dictionary: [])
    let noKeys = fixture.add(instanceOf: "NSMutableSet", [("NS.objects", "<array></array>")])
    let record = fixture.add(
      instanceOf: "CKRecord",
      [
        ("RecordType", fixture.add(string: "Person")), ("RecordID", recordID),
        ("ETag", fixture.add(string: "jh3gjmdt")), ("HasUpdatedParentReference", "<false/>"),
        (
          "ValueStore",
          fixture.add(
            instanceOf: "CKRecordValueStore",
            [("RecordValues", values), ("OriginalValues", before), ("ChangedKeys", changed)])
        ),
        (
          "EncryptedValueStore",
          fixture.add(
            instanceOf: "CKEncryptedRecordValueStore",
            [("RecordValues", none), ("OriginalValues", none), ("ChangedKeys", noKeys)])
        ),
      ])
    fixture.set("root", record)

    let person = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: fixture.data))
    #expect(person.recordType == "Person" && person.recordChangeTag == "jh3gjmdt")
    #expect(person["name"] as? String == "Anna")
    #expect(person["age"] as? Int == 26)
    #expect(person["isDeveloper"] as? Bool == true)
    #expect(person["born"] as? Date == Date(timeIntervalSince1970: 0))
    #expect((person["avatar"] as? CKAsset)?.fileURL?.path == "/tmp/avatar.png")
    #expect(person.changedKeys() == ["age"])
    #expect(person.encryptedValues.allKeys().isEmpty)
  }

  @Test("A list of zones is read")
  func zones() throws {
    var fixture = ArchiveFixture()
    let zones = ["one", "two"].map { name in
      let members = [
        ("ZoneID", fixture.addZoneID(name, owner: "someone")),
        ("Capabilities", fixture.add("<integer>15</integer>")),
        ("ShareReference", ArchiveFixture.null), ("DeviceCount", "<integer>0</integer>"),
        ("Expired", "<false/>"),
      ]
      return fixture.add(instanceOf: "CKRecordZone", members)
    }
    fixture.set(
      "root",
      fixture.add(
        instanceOf: "NSArray", [("NS.objects", "<array>\(zones.joined())</array>")]))

    let list = try NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [NSArray.self, CKRecordZone.self], from: fixture.data)
    let read = try #require(list as? [CKRecordZone])
    #expect(read.map(\.zoneID.zoneName) == ["one", "two"])
    #expect(read.map(\.zoneID.ownerName) == ["someone", "someone"])
    #expect(
      read[0].capabilities == [.fetchChanges, .atomic, .sharing, .zoneWideSharing])
  }

  @Test("A change token is read, and archived again it is the same")
  func changeToken() throws {
    var fixture = ArchiveFixture()
    let bytes = fixture.add("<data>\(Data([1, 0, 0, 0xFF, 0x80]).base64EncodedString())</data>")
    fixture.set(
      "root", fixture.add(instanceOf: "CKServerChangeToken", [("ChangeTokenData", bytes)]))
    let token = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: fixture.data))
    #expect(try archivedAndBack(token) == token)
  }

  @Test("A location is read")
  func location() throws {
    var fixture = ArchiveFixture()
    let members = [
      ("CoordinateLatitude", "-17.5"), ("CoordinateLongitude", "177.25"), ("Altitude", "12"),
      ("HorizontalAccuracy", "5"), ("VerticalAccuracy", "6"), ("Speed", "-1"), ("Course", "90"),
      ("Timestamp", "780000000"),
    ].map { ("kCLLocationCodingKey\($0.0)", "<real>\($0.1)</real>") }
    fixture.set("root", fixture.add(instanceOf: "CLLocation", members))
    let location = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: fixture.data))
    #expect(location.coordinate.latitude == -17.5 && location.coordinate.longitude == 177.25)
    #expect(location.altitude == 12 && location.course == 90 && location.speed == -1)
    #expect(location.timestamp == Date(timeIntervalSinceReferenceDate: 780_000_000))
    #expect(location.sourceInformation == nil && location.courseAccuracy == -1)
  }

  @Test("An archive that is not one, or lacks what it must have, is an error and no end")
  func brokenArchives() {
    #expect(throws: (any Error).self) {
      try NSKeyedUnarchiver.unarchivedObject(
        ofClass: CKRecordZone.ID.self, from: Data("deadbeef".utf8))
    }
    var fixture = ArchiveFixture()
    fixture.set("root", fixture.add(instanceOf: "CKRecordID", []))
    #expect(throws: (any Error).self) {
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.ID.self, from: fixture.data)
    }
  }
}
