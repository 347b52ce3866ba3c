import Foundation
import JSONCoding
import Testing

struct BadRecordTests {
  /// An operation that fails in a zone with the record `old` in it, whose field `rank` is an
  /// integer.
  struct Case: Sendable, CustomTestStringConvertible {
    var title: String
    var operation: String
    var code = "BAD_REQUEST"
    /// The parts of the reason that name item, field and rule.
    var reason: [String]

    var testDescription: String { title }
  }

  private static func create(_ fields: String) -> String {
    Service.operation("create", "bad", fields, zone: "Z")
  }

  static let cases = [
    Case(
      title: "an unknown field type", operation: create(#""f": {"value": 1, "type": "NUMBER"}"#),
      reason: ["operations[1].record.fields.f", "unknown field type 'NUMBER'"]),
    Case(
      title: "a value that is not of its type",
      operation: create(#""f": {"value": "soon", "type": "TIMESTAMP"}"#),
      reason: ["operations[1].record.fields.f", "expected type TIMESTAMP, found a string"]),
    Case(
      title: "a timestamp with a fraction",
      operation: create(#""f": {"value": 1.5, "type": "TIMESTAMP"}"#),
      reason: ["record.fields.f", "expected type TIMESTAMP, found a number with a fraction"]),
    Case(
      title: "an integer beyond 64 bits",
      operation: create(#""f": {"value": 9223372036854775808, "type": "INT64"}"#),
      reason: ["record.fields.f", "expected type INT64, found a number beyond 64 bits"]),
    Case(
      title: "bytes that are not base64",
      operation: create(#""f": {"value": "???", "type": "BYTES"}"#),
      reason: ["record.fields.f", "a string that is not base64"]),
    Case(
      title: "a list of mixed types",
      operation: create(#""f": {"value": ["a", 1], "type": "STRING_LIST"}"#),
      reason: ["record.fields.f.value[1]", "expected type STRING, found a number"]),
    Case(
      title: "a list in a list", operation: create(#""f": {"value": [["a"]]}"#),
      reason: ["record.fields.f", "lists cannot hold lists"]),
    Case(
      title: "a misspelt value", operation: create(#""f": {"valeu": 1}"#),
      reason: ["operations[1].record.fields.f", "'value' is missing"]),
    Case(
      title: "a coordinate out of range",
      operation: create(#""f": {"value": {"latitude": 0, "longitude": 181}}"#),
      reason: ["record.fields.f", "longitude"]),
    Case(
      title: "an unknown action of a reference",
      operation: create(#""f": {"value": {"recordName": "x", "action": "KEEP"}}"#),
      reason: ["record.fields.f", "'KEEP' must be NONE, DELETE_SELF or VALIDATE"]),
    Case(
      title: "another type than the field's in the schema",
      operation: create(#""rank": {"value": "first"}"#),
      reason: [
        "field 'rank' of record 'bad in Z'", "type INT64 in record type 'Note'", "type STRING",
      ]),
    Case(
      title: "a field name that is none", operation: create(#""two words": {"value": 1}"#),
      reason: ["field name 'two words'", "begin with a letter"]),
    Case(
      title: "a record name that is kept for the system",
      operation: Service.operation("create", "_bad", zone: "Z"),
      reason: ["operations[1].record", "'_bad' begins with '_'"]),
    Case(
      title: "a record name that is too long",
      operation: Service.operation("create", String(repeating: "n", count: 256), zone: "Z"),
      reason: ["recordName has 256 characters; the limit is 255"]),
    Case(
      title: "an empty record name", operation: Service.operation("create", "", zone: "Z"),
      reason: ["recordName must not be empty"]),
    Case(
      title: "an empty list in a new field", operation: create(#""rooms": {"value": []}"#),
      reason: ["cannot use an empty list to initialize a new field (field 'rooms' in record type"]),
    Case(
      title: "an empty list of a type in a new field",
      operation: create(#""rooms": {"value": [], "type": "INT64_LIST"}"#),
      reason: ["cannot use an empty list to initialize a new field (field 'rooms' in record type"]),
    Case(
      title: "an empty list of an unknown type in a new field",
      operation: create(#""rooms": {"value": [], "type": "UNKNOWN_LIST"}"#),
      reason: ["cannot use an empty list to initialize a new field (field 'rooms' in record type"]),
    Case(
      title: "a date out of range",
      operation: create(#""f": {"value": 8640000000000001, "type": "TIMESTAMP"}"#),
      reason: ["the date 8640000000000001 in 'f' is out of range"]),
    Case(
      title: "a date out of range in a list",
      operation: create(#""f": {"value": [0, -8640000000000001], "type": "TIMESTAMP_LIST"}"#),
      reason: ["the date -8640000000000001 in 'f' is out of range"]),
    Case(
      title: "a date out of range in an encrypted field",
      operation: create(
        #""f": {"value": 9223372036854775807, "type": "TIMESTAMP", "isEncrypted": true}"#),
      reason: ["the date 9223372036854775807 in 'f' is out of range"]),
    Case(
      title: "a location with a date out of range",
      operation: create(
        #""f": {"value": {"latitude": 1, "longitude": 2, "timestamp": 8640000000000001}}"#),
      reason: ["the date 8640000000000001 in 'value' is out of range"]),
    Case(
      title: "a record type that is none",
      operation: Service.operation("create", "bad", zone: "Z", type: "1x"), reason: ["'1x'"]),
    Case(
      title: "no record type", operation: Service.operation("create", "bad", zone: "Z", type: nil),
      reason: ["record 'bad in Z' does not exist", "needs a recordType"]),
    Case(
      title: "another record type than the record's",
      operation: Service.operation("forceUpdate", "old", zone: "Z", type: "Other"),
      reason: ["record 'old in Z' is of type 'Note'", "cannot become 'Other'"]),
    Case(
      title: "an unknown operation", operation: Service.operation("upsert", "bad", zone: "Z"),
      reason: ["operations[1]: operationType 'upsert' must be one of create"]),
    Case(
      title: "an operation without a record", operation: #"{"operationType": "create"}"#,
      reason: ["operations[1]: 'record' is missing"]),
    Case(
      title: "an operation that is no object", operation: "5",
      reason: ["operations[1]: must be an object, not a number"]),
    Case(
      title: "a record over 1 MB",
      operation: create(#""f": {"value": "\#(String(repeating: "x", count: 1_000_001))"}"#),
      reason: ["record 'bad'", "the limit is 1000000"]),
    Case(
      title: "a record that exists", operation: Service.operation("create", "old", zone: "Z"),
      code: "EXISTS", reason: ["record to insert already exists: 'old in Z'"]),
    Case(
      title: "a stale change tag",
      operation: Service.operation("update", "old", tag: "zz", zone: "Z"), code: "CONFLICT",
      reason: ["client oplock error updating record 'old in Z'", "the change tag 'zz'"]),
    Case(
      title: "no change tag", operation: Service.operation("delete", "old", zone: "Z"),
      code: "CONFLICT", reason: ["error deleting record 'old in Z'", "has no change tag"]),
    Case(
      title: "an update of nothing",
      operation: Service.operation("update", "none", tag: "1", zone: "Z"), code: "NOT_FOUND",
      reason: ["'none in Z'"]),
    Case(
      title: "a validated reference to nothing",
      operation: create(#""f": {"value": {"recordName": "none", "action": "VALIDATE"}}"#),
      code: "VALIDATING_REFERENCE_ERROR",
      reason: ["'f' of record 'bad in Z' points at record 'none', which does not exist"]),
  ]

  @Test("the item says what is wrong, and nothing of the atomic request is kept", arguments: cases)
  func atomic(_ one: Case) async throws {
    try await withService { service in
      try await service.makeZone("Z")
      let old = try await service.modify(
        Service.operation("create", "old", #""rank": {"value": 1}"#, zone: "Z"), in: "private")
      let answer = try await service.modify(
        Service.operation("create", "good", zone: "Z"), one.operation,
        Service.operation("forceUpdate", "old2", zone: "Z"), in: "private")
      #expect(answer.status == 200)
      #expect(answer.outcomes == ["ATOMIC_ERROR", one.code, "ATOMIC_ERROR"], "\(answer.json)")
      for part in one.reason {
        #expect(answer[1].reason.contains(part), "\(answer[1].reason)")
      }
      #expect(answer[1]["uuid"]?.string != nil)
      if ["EXISTS", "CONFLICT"].contains(one.code) {
        #expect(answer[1]["serverRecord"]?.tag == old[0].tag)
      }
      let left = try await service.post(
        "private/records/query",
        #"{"query": {"recordType": "Note"}, "zoneID": {"zoneName": "Z"}}"#, as: service.alice)
      #expect(left.items.map(\.name) == ["old"])
      #expect(left[0].tag == old[0].tag)
    }
  }

  @Test("a record in a zone that does not exist")
  func unknownZone() async throws {
    try await withService { service in
      for (zone, database) in [("Nowhere", "private"), ("Z", "public"), ("Z", "shared")] {
        let answer = try await service.modify(
          Service.operation("create", "n", zone: zone), in: database)
        #expect(answer.outcomes == ["ZONE_NOT_FOUND"], "\(database): \(answer.json)")
        #expect(answer[0].reason.contains("'\(zone)'"), "\(answer[0].reason)")
        #expect(answer[0].name == "n")
      }
    }
  }

  @Test("a refused field leaves no trace in the schema")
  func schemaUntouched() async throws {
    try await withService { service in
      let refused = try await service.modify(
        Service.operation("create", "n", #""a": {"value": 1}, "b c": {"value": 1}"#))
      #expect(refused.outcomes == ["BAD_REQUEST"])
      let answer = try await service.modify(
        Service.operation("create", "n", #""a": {"value": "text"}"#))
      #expect(answer.outcomes == ["ok"], "\(answer.json)")
    }
  }
}
