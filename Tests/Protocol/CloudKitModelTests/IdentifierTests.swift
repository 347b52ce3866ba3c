import CloudKitModel
import Testing

struct IdentifierTests {
  private let longest = String(repeating: "x", count: 255)

  private func rejects(_ body: () throws -> Void) -> ModelError? {
    #expect(throws: ModelError.self, performing: body)
  }

  @Test(
    "Record and zone names: 1 to 255 characters without control characters, not beginning with _")
  func names() {
    let accents = String(repeating: "\u{E9}", count: 255)
    for name in [
      "a", "A-1 b.c/~", " ", longest, "caf\u{E9}", "\u{65E5}\u{8A18} \u{1F33F}", accents,
    ] {
      #expect(throws: Never.self) { try RecordID(recordName: name).validate() }
      #expect(throws: Never.self) { try ZoneID(zoneName: name).validate() }
    }
    for name in ["", longest + "x", accents + "x", "_a", "a\u{7F}", "a\u{85}", "a\nb", "\u{0}"] {
      #expect(rejects { try RecordID(recordName: name).validate() }?.field == "recordName")
      #expect(rejects { try ZoneID(zoneName: name).validate() }?.field == "zoneName")
    }
    #expect(throws: Never.self) { try ZoneID.default.validate() }
  }

  @Test("Field names: a letter, then letters, digits and _, up to 255")
  func fieldNames() {
    for name in ["a", "Z", "a_1", "camelCase", longest] {
      #expect(throws: Never.self) { try Identifier.validateFieldName(name) }
    }
    for name in ["", "_a", "1a", "a-b", "a b", "a.b", "caf\u{E9}", longest + "x"] {
      let error = rejects { try Identifier.validateFieldName(name) }
      #expect(error?.code == .invalidName)
      #expect(error?.field == name)
    }
  }

  @Test("Record types: as field names, and cloudkit.share")
  func recordTypes() {
    for name in ["Note", "Users", "cloudkit.share", longest] {
      #expect(throws: Never.self) { try Identifier.validateRecordType(name) }
    }
    for name in ["", "cloudKit.share", "a.b", "_Note", "Not\u{E9}", longest + "x"] {
      #expect(rejects { try Identifier.validateRecordType(name) }?.field == "recordType")
    }
  }

  @Test("Errors say what was wrong with which name")
  func reasons() {
    #expect(
      rejects { try Identifier.validate("_a", as: "zoneName") }?.reason
        == "zoneName '_a' begins with '_', which is reserved for system names")
    #expect(
      rejects { try Identifier.validate(longest + "xy", as: "recordName") }?.description
        == "recordName has 257 characters; the limit is 255")
    #expect(
      rejects {
        try Identifier.validate(String(repeating: "\u{E9}", count: 256), as: "recordName")
      }?
      .reason == "recordName has 256 characters; the limit is 255")
    #expect(
      rejects { try Identifier.validate("a\u{85}", as: "zoneName") }?.reason
        == "zoneName 'a\u{85}' has the control character U+0085, which names must not have")
  }

  @Test("A name with composed letters and one with decomposed letters are one name")
  func composedLetters() {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    for name in [
      RecordID(recordName: decomposed).recordName, ZoneID(zoneName: decomposed).zoneName,
      Reference(recordName: decomposed).recordName,
    ] {
      #expect(name.hasSameBytes(as: composed))
    }
    // A filter on the name compares names; other fields may have any text.
    let lists = [decomposed, composed].map { RecordValue.list(of: .string, [.string($0)]) }
    let name = FieldKey.system(.recordName)
    #expect(Filter(name, .equals, .string(decomposed)).value == .string(composed))
    #expect(Filter(name, .isIn, lists[0]).value == lists[1])
    #expect(Filter(.field("title"), .equals, .string(decomposed)).value != .string(composed))
  }

  @Test("A zone without owner belongs to the database's own; the description leaves it out")
  func zones() {
    #expect(ZoneID(zoneName: "work").ownerName == "__defaultOwner__")
    #expect(ZoneID(zoneName: "work").description == "work")
    #expect(ZoneID(zoneName: "work", ownerName: "_ann").description == "work:_ann")
    #expect(ZoneID.default.isDefaultZone)
    #expect(!ZoneID(zoneName: "work").isDefaultZone)
    #expect(RecordID(recordName: "n").description == "n in _defaultZone")
  }
}
