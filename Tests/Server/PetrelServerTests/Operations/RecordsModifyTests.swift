import Foundation
import JSONCoding
import Testing

struct RecordsModifyTests {
  /// The effect of an operation on a record that exists or not, with a change tag or without.
  struct Case: CustomTestStringConvertible, Sendable {
    var kind: String
    var exists: Bool
    var tag: Tag
    var outcome: String

    enum Tag: String, Sendable { case right, stale, none }
    var testDescription: String { "\(kind), \(exists ? "exists" : "missing"), tag \(tag)" }

    static let all: [Case] =
      [
        ("create", ["EXISTS", "EXISTS", "EXISTS"], "ok"),
        ("update", ["ok", "CONFLICT", "CONFLICT"], "NOT_FOUND"),
        ("forceUpdate", ["ok", "ok", "ok"], "ok"),
        ("replace", ["ok", "CONFLICT", "CONFLICT"], "NOT_FOUND"),
        ("forceReplace", ["ok", "ok", "ok"], "ok"),
        ("delete", ["deleted", "CONFLICT", "CONFLICT"], "NOT_FOUND"),
        ("forceDelete", ["deleted", "deleted", "deleted"], "deleted"),
      ].flatMap { kind, existing, missing in
        zip([Tag.right, .stale, .none], existing).map {
          Case(kind: kind, exists: true, tag: $0, outcome: $1)
        }
          + [Tag.stale, .none].map { Case(kind: kind, exists: false, tag: $0, outcome: missing) }
      }
  }

  @Test("each operation follows its rule for records and change tags", arguments: Case.all)
  func operations(_ one: Case) async throws {
    try await withService { service in
      var tags = ["stale": "0"]
      if one.exists {
        let first = try await service.modify(
          Service.operation("create", "n", #""title": {"value": "old"}, "rank": {"value": 1}"#))
        tags["stale"] = first[0].tag
        let second = try await service.modify(
          Service.operation("forceUpdate", "n", #""rank": {"value": 2}"#))
        tags["right"] = second[0].tag
        #expect(tags["stale"] != tags["right"])
      }
      let answer = try await service.modify(
        Service.operation(
          one.kind, "n", #""title": {"value": "new"}"#, tag: tags[one.tag.rawValue]))
      #expect(answer.status == 200)
      #expect(answer.outcomes == [one.outcome], "\(answer.json)")
      #expect(answer[0].name == "n")

      let record = try await service.lookup("n")[0]
      switch one.outcome {
      case "ok":
        #expect(record.field("title") == "new")
        let keepsRest = one.exists && one.kind.hasSuffix("pdate")
        #expect(record.field("rank") == (keepsRest ? 2 : nil))
        #expect(record.tag == answer[0].tag && record.tag != tags["right"])
      case "deleted":
        #expect(record.outcome == "NOT_FOUND")
      default:
        #expect(record.outcome == (one.exists ? "ok" : "NOT_FOUND"))
        if one.exists {
          #expect(record.field("title") == "old" && record.tag == tags["right"])
        }
      }
      if ["EXISTS", "CONFLICT"].contains(one.outcome) {
        let server = try #require(answer[0]["serverRecord"], "\(answer.json)")
        #expect(server.tag == tags["right"] && server.field("rank") == 2)
      }
    }
  }

  @Test("a record without a name gets one")
  func namesRecords() async throws {
    try await withService { service in
      let answer = try await service.post(
        "public/records/modify",
        #"{"operations": [{"operationType": "create", "record": {"recordType": "Note"}}]}"#,
        as: service.alice)
      #expect(UUID(uuidString: answer[0].name) != nil, "\(answer.json)")
      #expect(try await service.lookup(answer[0].name).outcomes == ["ok"])
    }
  }

  @Test("the answer has what the server knows of a record")
  func answersWholeRecords() async throws {
    try await withService { service in
      let answer = try await service.modify(
        Service.operation("create", "n", #""title": {"value": "Milk", "type": "STRING"}"#),
        device: "phone")
      let record = answer[0]
      #expect(record["recordType"] == "Note")
      #expect(record["fields"]?["title"] == ["value": "Milk", "type": "STRING"])
      #expect(record["zoneID"]?["zoneName"] == "_defaultZone")
      #expect(record["created"]?["userRecordName"]?.string == service.alice.recordName)
      #expect(record["created"]?["deviceID"] == "phone")
      #expect(record["modified"]?["timestamp"]?.int != nil)
      #expect(!record.tag.isEmpty)
    }
  }

  @Test("every field type survives saving and lookup")
  func keepsFieldTypes() async throws {
    try await withService { service in
      let values = [
        #"{"value": "text", "type": "STRING"}"#, #"{"value": -7, "type": "INT64"}"#,
        #"{"value": 2.5, "type": "DOUBLE"}"#, #"{"value": 3, "type": "DOUBLE"}"#,
        #"{"value": 1700000000123, "type": "TIMESTAMP"}"#,
        #"{"value": "AAEC/w==", "type": "BYTES"}"#,
        #"{"value": {"latitude": 1.5, "longitude": -2.5}, "type": "LOCATION"}"#,
        #"""
        {"value": {"recordName": "x", "action": "NONE", "zoneID": {
          "zoneName": "_defaultZone", "ownerRecordName": "\#(service.alice.recordName)"}},
         "type": "REFERENCE"}
        """#,
        #"{"value": ["a", "b"], "type": "STRING_LIST"}"#, #"{"value": [], "type": "INT64_LIST"}"#,
        #"{"value": [1700000000123], "type": "TIMESTAMP_LIST"}"#,
      ]
      let fields = values.enumerated().map { #""f\#($0)": \#($1)"# }.joined(separator: ", ")
      // A list without elements does not make a field.
      let first = try await service.modify(
        Service.operation("create", "m", #""f9": {"value": [1], "type": "INT64_LIST"}"#))
      #expect(first.outcomes == ["ok"])
      #expect(
        try await service.modify(Service.operation("create", "n", fields)).outcomes == ["ok"])
      let record = try await service.lookup("n")[0]
      for (index, text) in values.enumerated() {
        let sent = try JSONValue(parsing: text)
        let kept = record["fields"]?["f\(index)"]
        #expect(kept?["type"] == sent["type"], "\(text) became \(kept ?? .null)")
        if let number = sent["value"]?.double {
          #expect(kept?["value"]?.double == number)
        } else {
          #expect(kept?["value"] == sent["value"])
        }
      }
    }
  }

  @Test("a null value removes a field")
  func removesFields() async throws {
    try await withService { service in
      _ = try await service.modify(
        Service.operation(
          "create", "n", #""a": {"value": 1}, "b": {"value": 2}, "c": {"value": 3}"#))
      let answer = try await service.modify(
        Service.operation("forceUpdate", "n", #""a": {"value": null}, "b": null"#))
      #expect(answer[0]["fields"] == ["c": ["value": 3, "type": "INT64"]], "\(answer.json)")
    }
  }

  @Test("desiredKeys choose the fields of the answer, for the request and for one operation")
  func desiredKeys() async throws {
    try await withService { service in
      let fields = #""a": {"value": 1}, "b": {"value": 2}, "c": {"value": 3}"#
      let own = Service.operation("create", "own", fields).dropLast() + #", "desiredKeys": ["c"]}"#
      let answer = try await service.modify(
        Service.operation("create", "n", fields), String(own), more: #", "desiredKeys": ["a", "b"]"#
      )
      #expect(answer[0]["fields"]?.object?.keys.sorted() == ["a", "b"])
      #expect(answer[1]["fields"]?.object?.keys.sorted() == ["c"])
      let none = try await service.modify(
        Service.operation("forceUpdate", "n", #""a": {"value": 4}"#), more: #", "desiredKeys": []"#)
      #expect(none[0]["fields"] == .object([:]))
      let kept = try await service.lookup("n")
      #expect(kept[0].field("a") == 4 && kept[0].field("c") == 3)
    }
  }

  @Test("numbersAsStrings writes numbers as strings, exactly")
  func numbersAsStrings() async throws {
    try await withService { service in
      let answer = try await service.modify(
        Service.operation(
          "create", "n",
          #""i": {"value": "9007199254740993", "type": "INT64"}, "d": {"value": 0.1}"#),
        more: #", "numbersAsStrings": true"#)
      #expect(answer[0].field("i") == "9007199254740993", "\(answer.json)")
      #expect(answer[0].field("d") == "0.1")
      let record = try await service.lookup("n")[0]
      #expect(record.field("i") == .int(9_007_199_254_740_993))
    }
  }

  @Test("a record that is named twice is refused the second time")
  func refusesTwice() async throws {
    try await withService { service in
      let answer = try await service.modify(
        Service.operation("create", "n", #""a": {"value": 1}"#),
        Service.operation("forceUpdate", "n", #""a": {"value": 2}"#))
      #expect(answer.outcomes == ["ok", "BAD_REQUEST"])
      #expect(answer[1].reason.contains("'n in _defaultZone' appears twice"), "\(answer.json)")
      #expect(try await service.lookup("n")[0].field("a") == 1)
    }
  }

  @Test("zoneID counts for the request, and for a record that names its own")
  func zones() async throws {
    try await withService { service in
      try await service.makeZone("A")
      try await service.makeZone("B")
      let answer = try await service.modify(
        Service.operation("create", "n"), Service.operation("create", "n", zone: "B"),
        in: "private", more: #", "zoneID": {"zoneName": "A"}"#)
      #expect(answer.outcomes == ["ok", "ok"], "\(answer.json)")
      #expect(answer.items.map { $0["zoneID"]?["zoneName"] } == ["A", "B"])
      #expect(
        answer.items.allSatisfy {
          $0["zoneID"]?["ownerRecordName"]?.string == service.alice.recordName
        })
      for (zone, outcome) in [("A", "ok"), ("B", "ok"), ("_defaultZone", "NOT_FOUND")] {
        let found = try await service.lookup("n", in: "private", zone: zone)
        #expect(found.outcomes == [outcome], "zone \(zone)")
      }
    }
  }

  @Test("an atomic request in a custom zone keeps nothing when one operation fails")
  func atomicInCustomZone() async throws {
    try await withService { service in
      try await service.makeZone("Z")
      _ = try await service.modify(
        Service.operation("create", "old", #""a": {"value": 1}"#, zone: "Z"), in: "private")
      let answer = try await service.modify(
        Service.operation("create", "new", zone: "Z"),
        Service.operation("update", "old", #""a": {"value": 2}"#, tag: "stale", zone: "Z"),
        Service.operation("forceDelete", "old2", zone: "Z"), in: "private")
      #expect(answer.outcomes == ["ATOMIC_ERROR", "CONFLICT", "ATOMIC_ERROR"], "\(answer.json)")
      let kept = try await service.post(
        "private/records/lookup",
        #"{"zoneID": {"zoneName": "Z"}, "records": [{"recordName": "new"}, {"recordName": "old"}]}"#,
        as: service.alice)
      #expect(kept.outcomes == ["NOT_FOUND", "ok"])
      #expect(kept[1].field("a") == 1)
    }
  }

  @Test("a request that is not atomic keeps what succeeds in a custom zone")
  func notAtomicInCustomZone() async throws {
    try await withService { service in
      try await service.makeZone("Z")
      let answer = try await service.modify(
        Service.operation("create", "new", zone: "Z"),
        Service.operation("update", "old", tag: "x", zone: "Z"), in: "private", atomic: false)
      #expect(answer.outcomes == ["ok", "NOT_FOUND"])
      #expect(try await service.lookup("new", in: "private", zone: "Z").outcomes == ["ok"])
    }
  }

  @Test("in the default zone each operation stands alone", arguments: ["public", "private"])
  func atomicInDefaultZone(database: String) async throws {
    try await withService { service in
      let answer = try await service.modify(
        Service.operation("create", "new"), Service.operation("update", "old", tag: "x"),
        in: database)
      #expect(answer.outcomes == ["ok", "NOT_FOUND"])
      #expect(try await service.lookup("new", in: database).outcomes == ["ok"])
    }
  }

  @Test("an operation that cannot be read fails the others of an atomic request")
  func brokenOperationInAtomicRequest() async throws {
    try await withService { service in
      try await service.makeZone("Z")
      let broken = Service.operation(
        "create", "bad", #""f": {"value": 1, "type": "WHAT"}"#, zone: "Z")
      let answer = try await service.modify(
        Service.operation("create", "good", zone: "Z"), broken,
        Service.operation("create", "other"), in: "private")
      #expect(answer.outcomes == ["ATOMIC_ERROR", "BAD_REQUEST", "ok"], "\(answer.json)")
      #expect(answer[1].name == "bad")
      #expect(
        try await service.lookup("good", in: "private", zone: "Z").outcomes == ["NOT_FOUND"])

      let separate = try await service.modify(
        Service.operation("create", "good", zone: "Z"), broken, in: "private", atomic: false)
      #expect(separate.outcomes == ["ok", "BAD_REQUEST"])
    }
  }

  @Test("in the public database only its creator may change or delete a record")
  func creatorOnly() async throws {
    try await withService { service in
      let made = try await service.modify(
        Service.operation("create", "n", #""a": {"value": 1}"#), as: service.alice)
      for kind in ["update", "forceUpdate", "replace", "forceReplace", "delete", "forceDelete"] {
        let answer = try await service.modify(
          Service.operation(kind, "n", #""a": {"value": 2}"#, tag: made[0].tag), as: service.bob)
        #expect(answer.outcomes == ["ACCESS_DENIED"], "\(kind): \(answer.json)")
        #expect(answer[0].reason.contains("'n in _defaultZone'"))
      }
      #expect(try await service.lookup("n", as: service.bob)[0].field("a") == 1)
    }
  }

  @Test("private databases of two users do not meet")
  func privateDatabases() async throws {
    try await withService { service in
      _ = try await service.modify(
        Service.operation("create", "n", #""a": {"value": 1}"#), in: "private", as: service.alice)
      let other = try await service.lookup("n", in: "private", as: service.bob)
      #expect(other.outcomes == ["NOT_FOUND"])
      let own = try await service.modify(
        Service.operation("create", "n", #""a": {"value": 2}"#), in: "private", as: service.bob)
      #expect(own.outcomes == ["ok"])
      #expect(
        try await service.lookup("n", in: "private", as: service.alice)[0].field("a") == 1)
    }
  }

  @Test("a user's own record is there from the beginning and can be changed by its user alone")
  func usersRecord() async throws {
    try await withService { service in
      let name = service.alice.recordName
      let empty = try await service.lookup(name)
      #expect(empty.outcomes == ["ok"])
      #expect(empty[0]["recordType"] == "Users")
      let saved = try await service.modify(
        Service.operation("forceUpdate", name, #""nick": {"value": "Al"}"#, type: "Users"))
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      #expect(try await service.lookup(name)[0].field("nick") == "Al")
      let other = try await service.modify(
        Service.operation("forceUpdate", name, #""nick": {"value": "X"}"#, type: "Users"),
        as: service.bob)
      #expect(other.outcomes == ["ACCESS_DENIED"])
      let foreign = try await service.modify(
        Service.operation("forceUpdate", "_someone", type: "Users"), as: service.bob)
      #expect(foreign.outcomes == ["BAD_REQUEST"])
      #expect(foreign[0].reason.contains("begins with '_'"), "\(foreign.json)")
    }
  }
}
