import CloudKitModel
import Foundation
import JSONCoding
import Synchronization
import Testing
import Waiting

@testable import Logging

struct SchemaTests {
  /// Posts to an operation of production.
  private func production(
    _ operation: String, _ body: String, _ service: Service
  ) async throws -> Answer {
    let target = service.target(operation, as: service.alice)
      .replacing("/development/", with: "/production/")
    return try await service.client.send("POST", target, body: Data(body.utf8))
  }

  private func modification(_ fields: String, name: String = "n") -> String {
    #"{"operations": [\#(Service.operation("forceUpdate", name, fields))]}"#
  }

  private func subscription(_ field: String) -> String {
    """
    {"operations": [{"operationType": "create", "subscription": {"subscriptionID": "s",
      "subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": "Note",
        "filterBy": [{"fieldName": "\(field)", "comparator": "EQUALS", "fieldValue": {"value": "x"}}]}}}]}
    """
  }

  private func query(_ filter: String, sort: String = "") -> String {
    #"{"query": {"recordType": "Note", "filterBy": [\#(filter)], "sortBy": [\#(sort)]}}"#
  }

  @Test("production takes what was deployed, and names what was not with the command to deploy it")
  func production() async throws {
    try await withService { service in
      let title = #""title": {"value": "x"}"#
      let command = "run: petrel schema deploy --container \(Service.container)"
      let type = try await production("public/records/modify", modification(title), service)
      #expect(type.outcomes == ["BAD_REQUEST"])
      #expect(type[0].reason.contains("record type 'Note' is not in the production schema"))
      #expect(type[0].reason.contains(command))
      let unknown = try await production("public/records/query", query(""), service)
      #expect(unknown.failure == "404 NOT_FOUND")
      #expect(unknown.reason.hasPrefix("Did not find record type: Note."))
      #expect(unknown.reason.hasSuffix(command))

      _ = try await service.post(
        "public/records/modify", modification(title), as: service.alice)
      _ = try await service.store.schemas.deploySchema(of: Service.container, isDryRun: false)
      let saved = try await production("public/records/modify", modification(title), service)
      #expect(saved.outcomes == ["ok"])
      let field = try await production(
        "public/records/modify", modification(#""rank": {"value": 1}"#), service)
      #expect(field.outcomes == ["BAD_REQUEST"])
      #expect(field[0].reason.contains("field 'rank' of record type 'Note'"))

      let refused = try await production(
        "public/subscriptions/modify", subscription("title"), service)
      #expect(refused.outcomes == ["BAD_REQUEST"])
      #expect(refused[0].reason.contains("the subscription type 'create of Note by title'"))
      #expect(refused[0].reason.contains(command))
      _ = try await service.post(
        "public/subscriptions/modify", subscription("title"), as: service.alice)
      _ = try await service.store.schemas.deploySchema(of: Service.container, isDryRun: false)
      let accepted = try await production(
        "public/subscriptions/modify", subscription("title"), service)
      #expect(accepted.outcomes == ["ok"])
    }
  }

  @Test("a field without the option is refused, and one whose index is not built asks for patience")
  func options() async throws {
    let lines = Mutex<[String]>([])
    var settings = ServiceSettings()
    settings.log = ServerLog { _, line in lines.withLock { $0.append(line) } }
    try await withService(settings) { service in
      _ = try await service.store.schemas.importSchema(
        ContainerSchema(recordTypes: ["Note": .init(fields: ["title": .init(.init(.string))])]),
        of: Service.container, isDryRun: false)
      let saved = try await service.post(
        "public/records/modify", modification(#""title": {"value": "x"}"#), as: service.alice)
      #expect(saved.outcomes == ["ok"])
      let filter =
        #"{"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "x"}}"#
      let unmarked = try await service.post(
        "public/records/query", query(filter), as: service.alice)
      #expect(unmarked.failure == "400 BAD_REQUEST")
      #expect(unmarked.reason.hasPrefix("Field 'title' is not marked queryable"))
      let all = try await service.post("public/records/query", query(""), as: service.alice)
      #expect(all.failure == "400 BAD_REQUEST")
      #expect(all.reason.hasPrefix("Field 'recordName' is not marked queryable"))
      _ = try await service.store.schemas.importSchema(
        ContainerSchema(
          recordTypes: [
            "Note": .init(
              fields: ["title": .init(.init(.string), indexes: [.queryable, .sortable])])
          ]), of: Service.container, isDryRun: false)
      // The server builds it by itself.
      try await eventually("the index is built") {
        let answer = try await service.post(
          "public/records/query",
          query(filter, sort: #"{"fieldName": "title"}"#), as: service.alice)
        if answer.status == 200 {
          #expect(answer[0].name == "n")
          return true
        }
        #expect(answer.failure == "503 TRY_AGAIN_LATER")
        #expect(answer.json["retryAfter"]?.double == 5)
        return false
      }
      let name = "index of values of Note.title in \(Service.container) (development)"
      try await eventually("the log says so") {
        lines.withLock { $0 }.contains("\(name): done")
      }
    }
  }
}
