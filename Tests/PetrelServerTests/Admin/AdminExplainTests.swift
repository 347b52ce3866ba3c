import Foundation
import JSONCoding
import Storage
import Testing
import Waiting

@testable import PetrelServer

@Suite("Explanations over the admin API")
struct AdminExplainTests {
  private static let place = "container=iCloud.com.example.app&environment=development"

  private func withNotes(_ body: (Service, String) async throws -> Void) async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      for (id, filter) in [("all", ""), ("bread", Self.titleIs("Bread"))] {
        try await service.subscribe(
          """
          {"subscriptionID": "\(id)", "subscriptionType": "query", "firesOn": ["create"],
           "zoneWide": true, "query": {"recordType": "Note", "filterBy": [\(filter)]}}
          """)
      }
      let answer = try await service.modify(
        Service.operation("create", "A", #""title": {"value": "Milk"}"#), device: "phone")
      try #require(answer.outcomes == ["ok"])
      try await body(service, key)
    }
  }

  private static func titleIs(_ title: String) -> String {
    """
    {"fieldName": "title", "comparator": "EQUALS", "fieldValue": {"value": "\(title)"}}
    """
  }

  @Test("a record is explained with what fired and what did not")
  func record() async throws {
    try await withNotes { service, key in
      var change: JSONValue?
      try await eventually("the change is dispatched") {
        let answer = try await service.adminGet(
          "explain/record?\(Self.place)&recordName=A", key: key)
        change = answer.json["changes"]?.array?.first
        return change?["steps"]?.array?.count == 2
      }
      #expect(change?["event"]?.string == "recordCreated")
      #expect(change?["notifications"]?.array?.map { $0["subscriptionID"] } == [.string("all")])
      let silent = try #require(change?["silent"]?.array?.first)
      #expect(silent["subscriptionID"]?.string == "bread")
      let reason = try #require(silent["reasons"]?.array?.first)
      #expect(reason["code"]?.string == "filter")
      #expect(reason["filter"]?.string == "title EQUALS 'Bread'")
      #expect(reason["value"]?.string == "'Milk'")
    }
  }

  @Test("a subscription is explained, and trials keep nothing")
  func trials() async throws {
    try await withNotes { service, key in
      try await eventually("the change is dispatched") {
        try await service.adminGet(
          "explain/subscription?\(Self.place)&subscriber=alice&subscriptionID=all", key: key
        ).json["firings"]?.array?.count == 1
      }
      let place: [String: JSONValue] = ["container": "iCloud.com.example.app"]
      func trial(_ path: String, _ members: [String: JSONValue]) async throws -> Answer {
        try await service.adminPost(
          "explain/trial/" + path, .object(place.merging(members) { $1 }), key: key)
      }
      let record: JSONValue = [
        "recordName": "B", "recordType": "Note", "fields": ["title": ["value": "Bread"]],
      ]
      let firing = try await trial("record", ["record": record])
      #expect(
        firing.json["firing"]?.array?.map { $0["subscriptionID"] } == [
          .string("all"), .string("bread"),
        ])
      let subscription: JSONValue = [
        "subscriptionID": "new", "subscriptionType": "query", "firesOn": ["create"],
        "zoneWide": true, "query": ["recordType": "Note"],
      ]
      let fitting = try await trial("subscription", ["subscription": subscription])
      #expect(fitting.json["fitting"]?.array?.map { $0["recordName"] } == [.string("A")])
      #expect(try await service.lookup("B").outcomes == ["NOT_FOUND"])
    }
  }

  @Test(
    "what is missing or wrong is told by its name",
    arguments: [
      ("recordName=", "recordName"), ("recordName=A&limit=0", "limit"),
      ("recordName=A&subscriber=nobody", "user"), ("recordName=A&color=red", "color"),
    ])
  func mistakes(query: String, name: String) async throws {
    try await withNotes { service, key in
      let answer = try await service.adminGet("explain/record?\(Self.place)&\(query)", key: key)
      #expect(answer.status == 400)
      #expect(answer.json["reason"]?.string?.contains("'\(name)'") == true, "\(answer.json)")
      #expect(try await service.adminGet("explain/record?\(Self.place)", key: nil).status == 421)
    }
  }
}
