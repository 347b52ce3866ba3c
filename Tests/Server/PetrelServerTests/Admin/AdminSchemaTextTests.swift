import JSONCoding
import Testing
import Waiting

@testable import PetrelServer

struct AdminSchemaTextTests {
  private func post(
    _ path: String, _ text: String, in container: String? = Service.container, _ key: String,
    at service: Service
  ) async throws -> Answer {
    var body: [String: JSONValue] = ["text": .string(text)]
    body["container"] = container.map { .string($0) }
    return try await service.adminPost("schema/\(path)", .object(body), key: key)
  }

  private func text(_ service: Service, _ key: String) async throws -> String {
    try await service.adminGet("schema?container=\(Service.container)", key: key)
      .json["text"]?.string ?? ""
  }

  @Test("an import holds from the next request on, and a dry run changes nothing")
  func atOnce() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      _ = try await service.modify(
        Service.operation("create", "A", #""title": {"value": "Milk"}"#))
      func find() async throws -> String {
        let answer = try await service.post(
          "public/records/query",
          """
          {"query": {"recordType": "Note", "filterBy": [
            {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "Milk"}}]}}
          """, as: service.alice)
        return answer.status == 200 ? "\(answer.items.map(\.name))" : answer.reason
      }
      let found = try await find()
      let before = try await text(service, key)
      let plain = before.replacing("STRING QUERYABLE SEARCHABLE SORTABLE", with: "STRING")
      try #require(plain != before)
      let dryRun = try await post("validate", plain, key, at: service)
      let change = "~ Note.title QUERYABLE SEARCHABLE SORTABLE -> no index"
      #expect(dryRun.json["changes"] == [.string(change)], "\(dryRun.json)")
      #expect(dryRun.json["fields"] == 1 && dryRun.json["refusals"] == [], "\(dryRun.json)")
      #expect(try await find() == found)
      let imported = try await post("import", plain, key, at: service)
      #expect(
        imported.json == ["changes": [.string(change)], "refusals": []], "\(imported.json)")
      #expect(try await find().contains("not marked queryable"))
      // The server builds the index again, by itself.
      #expect(try await post("import", before, key, at: service).status == 200)
      try await eventually("the index is built") {
        try await service.adminGet("schema/index-work", key: key).json["indexWork"] == []
      }
      #expect(try await find() == found)
    }
  }

  @Test("what would lose data is refused with its reason, and nothing is changed")
  func refusals() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      _ = try await service.modify(
        Service.operation("create", "A", #""title": {"value": "Milk"}"#))
      let before = try await text(service, key)
      let other = "DEFINE SCHEMA\nRECORD TYPE Note (title INT64);\nRECORD TYPE New (a INT64);"
      for path in ["validate", "import"] {
        let answer = try await post(path, other, key, at: service)
        let refusals = answer.json["refusals"]?.array?.compactMap(\.string) ?? []
        #expect(refusals.count == 1 && refusals[0].contains("have values in field 'title'"))
        #expect(try await text(service, key) == before)
      }
    }
  }

  @Test("a text that is no schema is refused with line and column, also without a container")
  func mistakes() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let wrong = "DEFINE SCHEMA\nRECORD TYPE Note (title STRNG);"
      for (path, container) in [
        ("validate", nil), ("validate", Service.container), ("import", Service.container),
      ] {
        let answer = try await post(path, wrong, in: container, key, at: service)
        #expect(answer.failure == "400 BAD_REQUEST")
        #expect(
          answer.reason.contains(
            "'text' is not a valid schema: line 2, column 25: expected the type of field 'title'"),
          "\(answer.reason)")
      }
      let good = "DEFINE SCHEMA\nCREATE ROLE Editor;\nRECORD TYPE Note (title STRING, n INT64);"
      let read = try await post("validate", good, in: nil, key, at: service)
      #expect(read.json == ["recordTypes": 1, "fields": 2, "roles": 1], "\(read.json)")
      let nowhere = try await post("import", good, in: nil, key, at: service)
      #expect(nowhere.reason.contains("'container' is missing"))
      let strange = try await post("import", good, in: "com.example", key, at: service)
      #expect(strange.reason.contains("'container' must begin with 'iCloud.'"))
      #expect(
        try await service.store.schemas.schema(of: Service.container, in: .development).roles == [])
    }
  }
}
