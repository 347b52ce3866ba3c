import CloudKitModel
import Foundation
import JSONCoding
import Testing
import Waiting

@testable import PetrelServer

/// Subscriptions that did not fire because they are not where the record is: made and asked about over
/// HTTP, as apps and those who run a server do it.
@Suite(.serialized)
struct ElsewhereExplanationTests {
  private static let note = #""title": {"value": "Milk"}"#

  private func toNotes(_ id: String, _ type: String = "Note") -> String {
    """
    {"subscriptionID": "\(id)", "subscriptionType": "query", "firesOn": ["create"],
     "zoneWide": true, "query": {"recordType": "\(type)"}}
    """
  }

  /// Posts as Alice's app does, in an environment.
  private func post(
    _ operation: String, _ body: String, in environment: String, at service: Service
  ) async throws {
    let answer = try await service.post(
      operation, body, as: service.alice, device: "phone",
      in: try #require(ContainerEnvironment(rawValue: environment)))
    let items = answer.json["subscriptions"]?.array ?? answer.json["records"]?.array ?? []
    let isDone = !items.isEmpty && items.allSatisfy { $0["serverErrorCode"] == nil }
    try #require(answer.status == 200 && isDone, "\(operation): \(answer.json)")
  }

  private func subscribe(
    _ subscription: String, in scope: String = "public", of environment: String = "development",
    at service: Service
  ) async throws {
    try await post(
      "\(scope)/subscriptions/modify",
      #"{"operations": [{"operationType": "create", "subscription": \#(subscription)}]}"#,
      in: environment, at: service)
  }

  private func save(
    _ name: String, in scope: String = "public", of environment: String = "development",
    at service: Service
  ) async throws {
    try await post(
      "\(scope)/records/modify",
      #"{"operations": [\#(Service.operation("create", name, Self.note))]}"#, in: environment,
      at: service)
  }

  /// Returns the reason of the admin API why a subscription of Alice did not fire on a record.
  private func reason(
    against id: String, for record: String, in scope: String = "public",
    of environment: String = "development", _ key: String, at service: Service
  ) async throws -> (code: String?, text: String) {
    let place =
      "container=\(Service.container)&environment=\(environment)&database=\(scope)"
      + (scope == "public" ? "" : "&user=alice")
    var silent: [JSONValue] = []
    try await eventually("the change is dispatched") {
      let answer = try await service.adminGet(
        "explain/record?\(place)&recordName=\(record)&subscriber=alice&subscriptionID=\(id)",
        key: key)
      let change = answer.json["changes"]?.array?.first
      silent = change?["silent"]?.array ?? []
      return change?["steps"]?.array?.count == 2
    }
    #expect(silent.count == 1)
    let reasons = silent.first?["reasons"]?.array ?? []
    #expect(reasons.count == 1)
    return (reasons.first?["code"]?.string, reasons.first?["text"]?.string ?? "")
  }

  @Test("a subscription in the private database, and a record in the public one, and the reverse")
  func otherDatabase() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      // Each database has a subscription, so that its changes are kept.
      try await subscribe(toNotes("publics"), at: service)
      try await subscribe(toNotes("privates"), in: "private", at: service)
      try await save("A", at: service)
      try await save("B", in: "private", at: service)
      let there = try await reason(against: "privates", for: "A", key, at: service)
      #expect(there.code == "otherDatabase")
      #expect(there.text.contains("in the private database, and the change is in the public one"))
      let here = try await reason(against: "publics", for: "B", in: "private", key, at: service)
      #expect(here.code == "otherDatabase")
      #expect(here.text.contains("in the public database, and the change is in the private one"))
    }
  }

  @Test("the explanation says whose private database it means, and where a subscription is")
  func otherUser() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      try await subscribe(toNotes("mine"), in: "private", at: service)
      try await service.subscribe(toNotes("his"), in: "private", as: service.bob)
      try await save("B", in: "private", at: service)
      let place = "container=\(Service.container)&environment=development"
      var text = ""
      try await eventually("the change is dispatched") {
        let answer = try await service.adminGet(
          "explain/record?\(place)&database=private&user=alice&recordName=B&subscriber=bob"
            + "&subscriptionID=his", key: key)
        let change = answer.json["changes"]?.array?.first
        let silent = change?["silent"]?.array?.first
        text = silent?["reasons"]?.array?.first?["text"]?.string ?? "\(answer.json)"
        return change?["steps"]?.array?.count == 2
      }
      let (alice, bob) = (service.alice.recordName, service.bob.recordName)
      #expect(
        text
          == "the subscription is in the private database of \(bob), and the change is in that of "
          + "\(alice): nothing of it is shared with \(bob)")

      try await save("A", at: service)
      let answer = try await service.adminGet(
        "explain/subscription?\(place)&subscriptionID=mine&subscriber=alice", key: key)
      #expect(answer.json["exists"] == false && answer.json["existsInDatabase"] == "private")
      #expect(answer.json["existsInEnvironment"] == "development")
    }
  }

  @Test("a dry run refuses a record that a save refuses")
  func refusedRecord() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      try await subscribe(toNotes("notes"), at: service)
      let answer = try await service.adminPost(
        "explain/dry-run/record",
        [
          "container": .string(Service.container),
          "record": [
            "recordName": "n", "recordType": "Note",
            "fields": ["due": ["value": 9_000_000_000_000_000, "type": "TIMESTAMP"]],
          ],
        ], key: key)
      #expect(answer.status == 400)
      #expect(answer.json["reason"]?.string?.contains("out of range") == true, "\(answer.json)")
    }
  }

  @Test("a subscription in development, and a record in production, and the reverse")
  func otherEnvironment() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      try await subscribe(toNotes("draft"), at: service)
      try await save("A", at: service)
      let deployed = try await service.adminPost(
        "schema/deploy", ["container": .string(Service.container)], key: key)
      try #require(deployed.status == 200, "\(deployed.json)")
      try await subscribe(toNotes("live"), of: "production", at: service)
      try await save("A", of: "production", at: service)
      let inProduction = try await reason(
        against: "draft", for: "A", of: "production", key, at: service)
      #expect(inProduction.code == "otherEnvironment")
      #expect(
        inProduction.text.contains(
          "in the development environment, and the change is in production"))
      let inDevelopment = try await reason(against: "live", for: "A", key, at: service)
      #expect(inDevelopment.code == "otherEnvironment")
      #expect(
        inDevelopment.text.contains(
          "in the production environment, and the change is in development"))
    }
  }
}
