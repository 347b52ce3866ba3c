import Foundation
import JSONCoding
import Testing

struct StrictJSONTests {
  /// Saves a record with one field, and returns the item of the answer.
  private func save(_ field: String, at service: Service) async throws -> JSONValue {
    try await service.modify(Service.operation("forceUpdate", "n", #""a": \#(field)"#))[0]
  }

  @Test(
    "a whole number beyond 64 bits is refused with item, field and rule",
    arguments: [
      (#"{"value": 9223372036854775808}"#, "whole number beyond 64 bits"),
      (#"{"value": -9223372036854775809}"#, "whole number beyond 64 bits"),
      (#"{"value": [1, 9223372036854775808]}"#, "whole number beyond 64 bits"),
      (#"{"value": [1.5, 9223372036854775808]}"#, "whole number beyond 64 bits"),
      (#"{"value": 9223372036854775808, "type": "INT64"}"#, "a number beyond 64 bits"),
      (#"{"value": "9223372036854775808", "type": "INT64"}"#, "found a string"),
      (#"{"value": 9007199254740993.0, "type": "INT64"}"#, "from 2^53 on with a fraction"),
      (#"{"value": 1e18, "type": "TIMESTAMP"}"#, "from 2^53 on with a fraction"),
      (#"{"value": 1.5, "type": "INT64"}"#, "a number with a fraction"),
    ])
  func integersBeyond(field: String, rule: String) async throws {
    try await withService { service in
      let item = try await save(field, at: service)
      #expect(item.errorCode == "BAD_REQUEST" && item["recordName"] == "n", "\(item)")
      #expect(item.reason.contains("fields.a") && item.reason.contains(rule), "\(item)")
    }
  }

  @Test("a number of the type DOUBLE may have any size, and numbers that fit are saved as they are")
  func otherNumbers() async throws {
    try await withService { service in
      let double = try await save(
        #"{"value": 9223372036854775808, "type": "DOUBLE"}"#, at: service)
      #expect(double.field("a")?.double == 0x1p63, "\(double)")
      for number in ["9223372036854775807", "-9223372036854775808", "9007199254740993"] {
        let item = try await service.modify(
          Service.operation("forceUpdate", "i", #""i": {"value": \#(number)}"#))[0]
        #expect(item.field("i") == .int(try #require(Int64(number))), "\(item)")
      }
    }
  }

  @Test("repeated members and extra commas are refused, in requests of every kind")
  func strictness() async throws {
    let repeated = #"{"query": {"recordType": "Note", "recordType": "Other"}}"#
    let comma = #"{"query": {"recordType": "Note"},}"#
    try await withService { service in
      let key = try await service.addAdminKey()
      for body in [repeated, comma] {
        let answers = [
          try await service.post("public/records/query", body, as: service.alice),
          try await service.post("private/records/query", body, as: service.alice),
          try await service.post("tokens/create", body, as: service.alice),
          try await service.client.send(
            "POST", "/admin/v1/records/query", headers: "Authorization: Bearer \(key)\r\n",
            body: Data(body.utf8)),
        ]
        for answer in answers {
          #expect(answer.json.errorCode == "BAD_REQUEST", "\(answer.json)")
          #expect(answer.reason.contains("not valid JSON"), "\(answer.json)")
        }
        if body == repeated {
          #expect(answers[0].reason.contains("the member 'query.recordType' is repeated"))
        }
      }
    }
  }
}
