import CloudKitModel
import Foundation
import Testing

struct RecordTests {
  @Test("A key sees a record's own field, a system field, or for all text nothing")
  func values() {
    var record = Record.sample(["title": .string("x")])
    record.modified = Record.Stamp(timestamp: Timestamp(milliseconds: 7), userRecordName: "_bob")
    record.share = Reference(recordName: "s")
    #expect(record.value(for: .field("title")) == .string("x"))
    #expect(record.value(for: .field("other")) == nil)
    #expect(record.value(for: .system(.recordName)) == .string("n-1"))
    #expect(record.value(for: .system(.modifiedTimestamp)) == .moment(7))
    #expect(record.value(for: .system(.modifiedUserRecordName)) == .string("_bob"))
    #expect(record.value(for: .system(.createdTimestamp)) == nil)
    #expect(record.value(for: .system(.createdUserRecordName)) == nil)
    #expect(record.value(for: .system(.share)) == .target("s"))
    #expect(record.value(for: .allText) == nil)
  }

  @Test("Sizes count names and values, lists by element, assets nothing")
  func sizes() {
    let base = Record.sample().approximateSize
    #expect(base == 3)
    func size(_ value: RecordValue) -> Int {
      Record.sample(["f": value]).approximateSize - base - 1
    }
    #expect(size(.string("caf\u{E9}")) == 5)
    #expect(size(.int64(1)) == 8)
    #expect(size(.bytes(Data(count: 100))) == 100)
    #expect(size(.strings("ab", "c")) == 7)
    #expect(size(.asset(Asset(fileChecksum: "x", size: 1 << 30))) == 0)
  }

  @Test("A record may have a megabyte and not a byte more")
  func sizeLimit() {
    func record(_ bytes: Int) -> Record { .sample(["f": .bytes(Data(count: bytes))]) }
    let room = ServiceLimits.recordSize - record(0).approximateSize
    #expect(throws: Never.self) { try record(room).validate() }
    let error = #expect(throws: ModelError.self) { try record(room + 1).validate() }
    #expect(error?.code == .limitExceeded)
    #expect(error?.reason == "record 'n-1' has 1000001 bytes; the limit is 1000000")
  }

  @Test("Type, field names and values are checked, and the field is named")
  func validation() {
    #expect(throws: Never.self) {
      try Record.sample(["f": .strings("a"), "g": .integers(), "h": .place(1, 2)]).validate()
    }
    func field(_ fields: RecordFields<RecordValue>) -> String? {
      #expect(throws: ModelError.self) { try Record.sample(fields).validate() }?.field
    }
    #expect(field(["1f": .int64(1)]) == "1f")
    #expect(field(["f": .place(91, 0)]) == "f")
    #expect(field(["f": .list(of: .location, [.place(0, 181)])]) == "f")
    #expect(field(["f": .list(of: .string, [.string("a"), .int64(1)])]) == "f")
    #expect(field(["f": .list(of: .string, [.strings("a")])]) == "f")
    var record = Record.sample()
    record.recordType = "No type"
    #expect(throws: ModelError.self) { try record.validate() }
  }

  @Test("A list of mixed types is refused with the place of the first stranger")
  func mixedList() {
    let list = RecordValue.list(of: .int64, [.int64(1), .double(1)])
    let error = #expect(throws: ModelError.self) { try list.validate(field: "f") }
    #expect(error?.code == .wrongType)
    #expect(error?.reason == "element 1 of list 'f' is DOUBLE, but the elements must be INT64")
  }
}
