import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
import Testing

@testable import AdminAPI
@testable import Configuration

struct AdminChangesTests {
  private static let place = "container=\(Service.container)"

  private func operation(_ kind: String, _ name: String, type: String = "Note") -> JSONValue {
    [
      "operationType": .string(kind),
      "record": ["recordType": .string(type), "recordName": .string(name), "fields": [:]],
    ]
  }

  private func modify(
    _ service: Service, _ key: String, _ operations: [JSONValue], of user: String? = nil
  ) async throws {
    var body: [String: JSONValue] = [
      "container": .string(Service.container), "operations": .array(operations),
    ]
    if let user { body.merge(["database": "private", "user": .string(user)]) { $1 } }
    let answer = try await service.adminPost("records/modify", .object(body), key: key)
    #expect(Set(answer.outcomes).isSubset(of: ["ok", "deleted"]), "\(answer.json)")
  }

  @Test("the default zone of a private database is told page by page, and what changes meanwhile")
  func privateDefaultZone() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      try await modify(
        service, key,
        (1...5).map { operation("create", "n\($0)", type: $0 == 3 ? "Other" : "Note") },
        of: "alice")
      let path = "records/changes?\(Self.place)&database=private&user=alice"
      let first = try await service.adminGet(path + "&limit=3", key: key)
      #expect(first.json["records"]?.array?.map { $0["recordName"] } == ["n1", "n2", "n3"])
      #expect(first.json["moreComing"] == true)
      // Saved in another database it would be another owner's.
      #expect(first.json["records"]?.array?.first?["zoneID"] == ["zoneName": "_defaultZone"])

      try await modify(
        service, key, [operation("forceReplace", "n1"), operation("forceDelete", "n5")],
        of: "alice")
      let token = try #require(
        first.json["syncToken"]?.string?.addingPercentEncoding(
          withAllowedCharacters: .alphanumerics))
      let rest = try await service.adminGet(path + "&syncToken=\(token)", key: key)
      let told = rest.json["records"]?.array?.map {
        ($0["recordName"]?.string ?? "") + ($0["deleted"]?.bool == true ? " deleted" : "")
      }
      #expect(told == ["n4", "n1", "n5 deleted"])
      #expect(rest.json["moreComing"] == false)
      let others = try await service.adminGet(path + "&recordType=Other", key: key)
      #expect(others.json["records"]?.array?.map { $0["recordName"] } == ["n3"])
    }
  }

  @Test("grants keep nothing back, and what cannot be is told by its name")
  func grants() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      try await modify(service, key, [operation("create", "a")])
      try await service.grant(RecordGrants(["_creator": [.read, .write, .create]]))
      let all = try await service.adminGet("records/changes?\(Self.place)", key: key)
      #expect(all.json["records"]?.array?.map { $0["recordName"] } == ["a"])
      for (query, status, code) in [
        ("zone=Nowhere", 404, "ZONE_NOT_FOUND"), ("syncToken=x", 400, "BAD_REQUEST"),
        ("database=private&user=alice", 404, "NOT_FOUND"), ("limit=201", 400, "BAD_REQUEST"),
      ] {
        let answer = try await service.adminGet(
          "records/changes?\(Self.place)&\(query)", key: key)
        #expect(answer.status == status && answer.json["serverErrorCode"]?.string == code)
      }
    }
  }

  @Test("who has the store open is answered as one who comes with a key")
  func local() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      try await modify(service, key, [operation("create", "a")])
      let local = LocalAdministration(
        store: service.store, configuration: ServerConfiguration(dataDirectory: "/nowhere"),
        clock: service.clock.read)
      func answer(_ path: String) async throws -> (Int, JSONValue) {
        let response = await local.respond(
          to: HTTPRequest(method: "GET", target: LocalAdministration.path + path))
        guard case .data(let data) = response.body else { return (response.status, .null) }
        return (response.status, try JSONValue(parsing: data))
      }
      for path in [
        "users", "users/show?user=alice", "zones?\(Self.place)", "schema?\(Self.place)",
        "schema/index-work", "records/changes?\(Self.place)", "devices", "containers",
        "users/show?user=nobody&x=1", "pushes?\(Self.place)",
      ] {
        let here = try await answer(path)
        let there = try await service.adminGet(path, key: key)
        #expect(here.0 == there.status, "\(path)")
        // Each failure has an identifier of its own.
        func plain(_ json: JSONValue) -> [String: JSONValue] {
          (json.object ?? [:]).filter { $0.key != "uuid" }
        }
        #expect(plain(here.1) == plain(there.json), "\(path)")
      }
      for path in ["overview", "events", "session"] { #expect(try await answer(path).0 == 404) }
      #expect(try await answer("keys").1["keys"]?.array?.first?["isCurrent"] == false)
    }
  }

  @Test("one subscription is found by its ID")
  func subscription() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      for id in ["one", "two"] {
        try await service.subscribe(
          """
          {"subscriptionID": "\(id)", "subscriptionType": "query", "firesOn": ["create"],
           "zoneWide": true, "query": {"recordType": "Note"}}
          """)
      }
      let answer = try await service.adminGet(
        "subscriptions?\(Self.place)&subscriber=alice&subscriptionID=two", key: key)
      let found = answer.json["subscriptions"]?.array ?? []
      #expect(found.map { $0["subscription"]?["subscriptionID"] } == ["two"])
    }
  }
}
