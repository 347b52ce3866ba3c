import CloudKitModel
import Foundation
import JSONCoding
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

/// Reads of databases that do not exist: they make nothing, and answer as an empty database does.
struct VacantDatabaseTests {
  /// The operations that read a database, with bodies about what an empty database has and lacks.
  private static let reads: [(operation: String, body: String)] = [
    (
      "records/lookup",
      #"{"records": [{"recordName": "a"}, {"recordName": "b", "zoneID": {"zoneName": "Z"}}]}"#
    ),
    ("records/lookup", #"{"records": [{"recordName": "a"}, {"recordName": "_alice"}]}"#),
    ("records/query", #"{"query": {"recordType": "Note"}}"#),
    (
      "records/query", #"{"query": {"recordType": "Note"}, "zoneID": {"zoneName": "_defaultZone"}}"#
    ),
    ("records/query", #"{"query": {"recordType": "Note"}, "zoneID": {"zoneName": "Z"}}"#),
    (
      "records/query",
      #"""
      {"query": {"recordType": "Known", "filterBy": [{"fieldName": "count", "comparator": "EQUALS",
        "fieldValue": {"value": "text"}}]}}
      """#
    ),
    ("records/query", #"{"query": {"recordType": "Note"}, "continuationMarker": "x"}"#),
    ("zones/list", ""), ("zones/lookup", #"{"zones": [{"zoneName": "_defaultZone"}]}"#),
    ("zones/lookup", #"{"zones": [{"zoneName": "Z"}]}"#),
    ("changes/database", "{}"), ("changes/database", #"{"syncToken": "x"}"#),
    ("zones/changes", "{}"),
    ("changes/zone", #"{"zones": [{"zoneID": {"zoneName": "_defaultZone"}}]}"#),
    (
      "changes/zone",
      #"{"zones": [{"zoneID": {"zoneName": "_defaultZone"}, "reverse": true}, {"zoneID": {"zoneName": "Z"}}]}"#
    ),
    ("records/changes", #"{"zoneID": {"zoneName": "_defaultZone"}}"#),
    ("records/changes", #"{"zoneID": {"zoneName": "Z", "ownerRecordName": "_other"}}"#),
    ("subscriptions/list", ""),
    ("subscriptions/lookup", #"{"subscriptions": [{"subscriptionID": "s"}]}"#),
    ("users/caller", ""), ("users/current", ""),
    ("records/resolve", #"{"shortGUIDs": [{"value": "none"}]}"#),
  ]

  private func send(
    _ operation: String, _ body: String, to container: String, as user: TestUser?,
    in environment: ContainerEnvironment = .development, at service: Service
  ) async throws -> Answer {
    let target = service.target(operation, as: user, in: environment)
    return try await service.client.send(
      "POST", target.replacing(Service.container, with: container), body: Data(body.utf8))
  }

  /// The answer without what differs from one request to the next.
  private func comparable(_ answer: Answer) -> String {
    "\(answer.status) "
      + String(decoding: answer.body, as: UTF8.self)
      .replacing(/"(syncToken|metaSyncToken|uuid|redirectURL)": ?"[^"]*"/) { "\"\($0.output.1)\"" }
      .replacing(/iCloud\.[a-z]+/, with: "CONTAINER")
  }

  /// The number of rows in each table.
  private func rows(_ service: Service) async throws -> [String: Int64] {
    try await service.store.transactions.read { transaction in
      var rows: [String: Int64] = [:]
      for table in try SQLTable.names(transaction.connection) {
        rows[table] = try transaction.connection.first("SELECT COUNT(*) FROM \(table)", []) {
          $0.integer(0)
        }
      }
      return rows
    }
  }

  @Test(
    "every read makes no row, and answers as an empty database does",
    arguments: [ContainerEnvironment.development, .production])
  func reads(_ environment: ContainerEnvironment) async throws {
    try await withService { service in
      for scope in [DatabaseScope.public, .private, .shared] {
        for container in ["iCloud.empty", "iCloud.vacant"] {
          _ = try await service.store.schemas.importSchema(
            ContainerSchema(recordTypes: [
              "Known": .init(fields: ["count": .init(FieldType(.int64))])
            ]),
            of: container, isDryRun: false)
        }
        _ = try await service.store.databases.database(
          at: DatabaseAddress(
            container: "iCloud.empty", environment: environment, scope: scope,
            owner: scope == .public ? nil : service.alice.recordName))
      }
      // The server makes the secret for the URLs of its sign-in page when it first needs one.
      _ = try await send("public/users/caller", "", to: "iCloud.empty", as: nil, at: service)
      let before = try await rows(service)
      for scope in ["public", "private", "shared"] {
        for user in [service.alice, nil] as [TestUser?] where user != nil || scope == "public" {
          for (operation, body) in Self.reads {
            let body = body.replacing("_alice", with: service.alice.recordName)
            var answers: [String] = []
            for container in ["iCloud.empty", "iCloud.vacant"] {
              answers.append(
                comparable(
                  try await send(
                    "\(scope)/\(operation)", body, to: container, as: user, in: environment,
                    at: service)))
            }
            #expect(answers[0] == answers[1], "\(scope)/\(operation) \(body)")
            #expect(!answers[0].hasPrefix("5"), "\(answers[0])")
          }
        }
      }
      let after = try await rows(service)
      #expect(after == before, "\(after.filter { before[$0.key] != $0.value })")
    }
  }

  @Test("anonymous reads of ever new containers make nothing")
  func anonymous() async throws {
    try await withService { service in
      let before = try await rows(service)
      for number in 0..<50 {
        let answer = try await send(
          "public/records/query", #"{"query": {"recordType": "Note"}}"#,
          to: "iCloud.new\(number)", as: nil, at: service)
        #expect(answer.status == 404, "\(answer.json)")
      }
      #expect(try await rows(service) == before)
    }
  }

  @Test("the tokens of a database that does not exist lead to its first changes")
  func tokens() async throws {
    try await withService { service in
      let zones = try await service.post("private/changes/database", "{}", as: service.alice)
      let token = try #require(zones.json["syncToken"]?.string)
      let records = try await service.post(
        "public/records/changes", #"{"zoneID": {"zoneName": "_defaultZone"}}"#, as: service.bob)
      let recordToken = try #require(records.json["syncToken"]?.string)

      // The tokens may be used again before anything is saved.
      let again = try await service.post(
        "private/changes/database", #"{"syncToken": "\#(token)"}"#, as: service.alice)
      #expect(again.json["syncToken"]?.string == token && again.json["zones"] == [])

      try await service.makeZone("Z")
      let saved = try await service.modify(Service.operation("create", "n"))
      #expect(saved.outcomes == ["ok"])
      let changed = try await service.post(
        "private/changes/database", #"{"syncToken": "\#(token)"}"#, as: service.alice)
      #expect(changed.json["zones"]?.array?.count == 1, "\(changed.json)")
      let changes = try await service.post(
        "public/records/changes",
        #"{"zoneID": {"zoneName": "_defaultZone"}, "syncToken": "\#(recordToken)"}"#,
        as: service.bob)
      #expect(changes.json["records"]?.array?.map(\.name) == ["n"], "\(changes.json)")
      let next = try #require(changed.json["syncToken"]?.string)
      let rest = try await service.post(
        "private/changes/database", #"{"syncToken": "\#(next)"}"#, as: service.alice)
      #expect(rest.json["zones"] == [])
    }
  }
}
