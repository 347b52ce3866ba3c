import CloudKit
import Testing

struct RecordTests {
  private let record = CKRecord(recordType: "Artwork")

  @Test("Values of every supported type are set and read as code does on Apple's systems")
  func values() throws {
    let date = Date(timeIntervalSince1970: 5)
    let reference = CKRecord.Reference(record: record, action: .none)
    let optional: String? = "maybe"
    let name = "Mona"
    record["title"] = "Mona"
    record["year"] = 1503
    record["price"] = 2.5
    record["sold"] = true
    record["date"] = date
    record["data"] = Data([1, 2])
    record["tags"] = ["a", "b"]
    record["numbers"] = [1, 2, 3]
    record["dates"] = [date]
    record["place"] = CLLocation(latitude: 1, longitude: 2)
    record["artist"] = reference
    record["artists"] = [reference]
    record["optional"] = optional
    record["bridged"] = name as NSString
    record["old"] = name as CKRecordValue
    record["boxed"] = NSNumber(value: 7)
    record["small"] = UInt8(8)
    record.setObject(name as CKRecordValue?, forKey: "set")

    let title: String? = record["title"]
    #expect(title == "Mona")
    #expect(record["title"] as? String == "Mona")
    #expect(record["title"] as? NSString == "Mona")
    #expect(record["year"] as? Int == 1503)
    #expect(record["year"] as? Double == 1503)
    #expect(record["year"] as? Int64 == 1503)
    let price: Double? = record["price"]
    #expect(price == 2.5)
    #expect(record["price"] as? Int == nil)
    #expect(record["sold"] as? Bool == true)
    #expect(record["sold"] as? Int == 1)
    #expect(record["date"] as? Date == date)
    #expect(record["date"] as? NSDate == date as NSDate)
    #expect(record["data"] as! Data == Data([1, 2]))
    #expect(record["tags"] as? [String] == ["a", "b"])
    #expect(record["tags"] as? NSArray == ["a", "b"] as NSArray)
    let numbers: [Int]? = record["numbers"]
    #expect(numbers == [1, 2, 3])
    #expect(record["numbers"] as? [Double] == [1, 2, 3])
    #expect(record["dates"] as? [Date] == [date])
    #expect((record["place"] as? CLLocation)?.coordinate.longitude == 2)
    #expect(record["artist"] as? CKRecord.Reference == reference)
    #expect(record["artists"] as? [CKRecord.Reference] == [reference])
    #expect(record["optional"] as? String == "maybe")
    #expect(record["bridged"] as? String == "Mona")
    #expect(record["old"] as? String == "Mona")
    #expect(record["boxed"] as? Int == 7)
    #expect(record["small"] as? Int == 8)
    #expect(record.object(forKey: "set") as? String == "Mona")
    #expect(record["nothing"] == nil)
    #expect(record["title"] as? Int == nil)
  }

  @Test("Setting a field marks it as changed, even to the same value; nil removes it")
  func changedKeys() {
    record["b"] = 1
    record["a"] = "x"
    #expect(record.allKeys() == ["a", "b"])
    #expect(record.changedKeys() == ["a", "b"])
    record["b"] = nil
    #expect(record.allKeys() == ["a"])
    #expect(record.changedKeys() == ["a", "b"])
    let fetched = CKRecord(try! record.model())
    #expect(fetched.changedKeys() == [])
    fetched["a"] = "x"
    #expect(fetched.changedKeys() == ["a"])
  }

  @Test("All tokens are the words of the string fields")
  func allTokens() {
    record["b"] = "third"
    record["a"] = "first  second\n"
    record["n"] = 4
    #expect(record.allTokens() == ["first", "second", "third"])
  }

  @Test("A loop over a record meets each field")
  func iteration() {
    record["b"] = 2
    record["a"] = "x"
    var seen: [String] = []
    for (key, value) in record { seen.append("\(key)=\(value)") }
    #expect(seen == ["a=x", "b=2"])
  }

  @Test("A copy has the same fields and changes and is a record of its own")
  func copying() {
    record["a"] = 1
    let copy = record.copy() as! CKRecord
    copy["a"] = 2
    #expect(record["a"] as? Int == 1)
    #expect(copy.changedKeys() == ["a"])
    #expect(copy.recordID == record.recordID)
  }

  @Test("Encrypted values are fields apart from the others")
  func encryptedValues() {
    record["open"] = "x"
    record.encryptedValues["secret"] = "y"
    #expect(record.encryptedValues["secret"] as? String == "y")
    #expect(record.encryptedValues.allKeys() == ["secret"])
    #expect(record.encryptedValues.changedKeys() == ["secret"])
    #expect(record.encryptedKeys == ["secret"])
    #expect(record["secret"] == nil)
    #expect(record.encryptedValues["open"] == nil)
    #expect(record.allKeys() == ["open"] && record.changedKeys() == ["open"])
    #expect(record.allTokens() == ["x"])
    #expect(record.map(\.0) == ["open"])
    record.encryptedValues["secret"] = nil
    #expect(record.encryptedValues.allKeys() == [])
    #expect(record.encryptedValues.changedKeys() == ["secret"])
  }

  @Test("A parent is a reference without action")
  func parent() async {
    let above = CKRecord(recordType: "Museum")
    record.setParent(above)
    #expect(record.parent?.recordID == above.recordID)
    record.setParent(nil as CKRecord?)
    #expect(record.parent == nil)
    await #expect(processExitsWith: .failure) {
      CKRecord(recordType: "A").parent = CKRecord.Reference(
        recordID: CKRecord.ID(), action: .deleteSelf)
    }
  }

  @Test("Fields are set and read by key-value coding too")
  func keyValueCoding() async {
    let optional: String? = "y"
    record.setValue("x", forKey: "a")
    record.setValue(optional, forKey: "b")
    record.setValuesForKeys(["c": 3, "d": ["z"] as [Any], "e": NSNull()])
    #expect(record.value(forKey: "a") as? String == "x")
    #expect(record.value(forKey: "b") as? String == "y")
    #expect(record["c"] as? Int == 3)
    #expect(record["d"] as? [String] == ["z"])
    #expect(record["e"] == nil)
    record.setValue(nil, forKey: "a")
    #expect(record.allKeys() == ["b", "c", "d"])
    await #expect(processExitsWith: .failure) {
      CKRecord(recordType: "T").setValue(URL(fileURLWithPath: "/"), forKey: "a")
    }
  }

  @Test("Key-value coding reaches properties, and through them by paths")
  func keyPaths() async {
    let zoneID = CKRecordZone.ID(zoneName: "Z")
    let albumID = CKRecord.ID(recordName: "album", zoneID: zoneID)
    record["title"] = "Mona"
    record["album"] = CKRecord.Reference(recordID: albumID, action: .deleteSelf)
    #expect(record.value(forKey: "recordID") as? CKRecord.ID == record.recordID)
    #expect(record.value(forKey: "creationDate") == nil)
    #expect(record.value(forKeyPath: "title") as? String == "Mona")
    #expect(record.value(forKeyPath: "recordID.zoneID.zoneName") as? String == "_defaultZone")
    #expect(record.value(forKeyPath: "album.recordID.recordName") as? String == "album")
    #expect(record.value(forKeyPath: "album.action") as? Int == 1)
    #expect(record.value(forKeyPath: "creatorUserRecordID.recordName") == nil)
    let values = record.dictionaryWithValues(forKeys: ["title", "none"])
    #expect(values["title"] as? String == "Mona")
    #expect(values["none"] is NSNull)
    record.setNilValueForKey("title")
    #expect(record["title"] == nil)
    await #expect(processExitsWith: .failure) {
      let record = CKRecord(recordType: "T")
      record["title"] = "Mona"
      _ = record.value(forKeyPath: "title.length")
    }
  }

  @Test("An empty record type stops the program")
  func emptyRecordType() async {
    await #expect(processExitsWith: .failure) { _ = CKRecord(recordType: "") }
  }

  @Test("A whole record goes through a secure archive")
  func archiving() throws {
    record["title"] = "Mona"
    record["year"] = 1503
    record["price"] = 3.0
    record["tags"] = ["a", "b"]
    record["when"] = Date(timeIntervalSince1970: 1.5)
    record["data"] = Data([9])
    record["place"] = CLLocation(latitude: 1, longitude: 2)
    record["artist"] = CKRecord.Reference(record: record, action: .deleteSelf)
    record.encryptedValues["secret"] = 1
    record["gone"] = nil
    let copy = try archivedAndBack(record)
    #expect(try copy.model() == record.model())
    #expect(copy.changedKeys() == record.changedKeys())
    #expect(copy.encryptedKeys == ["secret"])
  }

  @Test("The system fields alone go through an archive without the other fields")
  func systemFields() throws {
    record["title"] = "Mona"
    var model = try record.model()
    model.recordChangeTag = "7"
    model.created = .init(timestamp: .init(milliseconds: 1), userRecordName: "_u")
    let saved = CKRecord(model)
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    saved.encodeSystemFields(with: archiver)
    archiver.finishEncoding()
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    unarchiver.requiresSecureCoding = true
    let copy = try #require(CKRecord(coder: unarchiver))
    #expect(copy.recordID == record.recordID)
    #expect(copy.recordType == "Artwork")
    #expect(copy.recordChangeTag == "7")
    #expect(copy.creatorUserRecordID?.recordName == "_u")
    #expect(copy.creationDate == Date(timeIntervalSince1970: 0.001))
    #expect(copy.allKeys() == [])
    #expect(copy.changedKeys() == [])
  }

  @Test("Threads may write to one record at once")
  func threads() {
    let record = record
    DispatchQueue.concurrentPerform(iterations: 200) { index in
      record["field\(index)"] = index
    }
    #expect(record.allKeys().count == 200)
    #expect(record.changedKeys().count == 200)
  }
}
