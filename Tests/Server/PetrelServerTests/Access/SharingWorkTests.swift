import Foundation
import JSONCoding
import Testing
import Waiting

@testable import PetrelServer
@testable import Storage

/// Tests of the work of the store for shares, in steps of SQLite.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["PETREL_TEST_STORE"] != "postgres"))
struct SharingWorkTests {
  private static let participants = 5
  /// The tables whose statements are compared. How often the number of a transaction is read, for
  /// example, depends on how many changes one commit has.
  private static let tables = [
    "records", "participants", "shares", "hierarchy", "departures", "zones", "subscriptions",
    "forwards", "notification_index",
  ]

  /// Shares a list with five users who have a database subscription each, and returns the users.
  ///
  /// - Parameter items: the number of records below the shared one.
  private func share(
    _ service: Service, isZone: Bool, items: Int
  ) async throws -> [TestUser] {
    try await service.makeZone("Notes")
    let root = isZone ? "" : #", "forRecord": {"recordName": "list"}"#
    let share = """
      {"operationType": "create", "record": {"recordName": "\(isZone ? "cloudkit.zoneshare" : "s")",
       "recordType": "cloudkit.share", "zoneID": {"zoneName": "Notes"}, "fields": {},
       "publicPermission": "READ_WRITE"\(root)}}
      """
    let saved = try await service.modify(
      Service.operation("create", "list", zone: "Notes"), share, in: "private")
    let guid = try #require(saved[1]["shortGUID"]?.string, "\(saved.json)")
    for first in stride(from: 0, to: items, by: 100) {
      try await save((first..<min(first + 100, items)).map { "item-\($0)" }, service)
    }
    var users: [TestUser] = []
    for number in 0..<Self.participants {
      let user = try await Service.addUser("user\(number)", to: service.store)
      let accepted = try await service.post(
        "public/records/accept", #"{"shortGUIDs": ["\#(guid)"]}"#, as: user)
      try #require(accepted.json["results"]?.array?.first?["share"] != nil, "\(accepted.json)")
      try await service.subscribe(
        #"{"subscriptionID": "all", "subscriptionType": "database"}"#, in: "shared", as: user)
      users.append(user)
    }
    return users
  }

  private func save(_ names: [String], _ service: Service) async throws {
    let operations = names.map {
      """
      {"operationType": "forceUpdate", "record": {"recordName": "\($0)", "recordType": "Note",
       "zoneID": {"zoneName": "Notes"}, "parent": {"recordName": "list"}, "fields": {}}}
      """
    }
    let saved = try await service.post(
      "private/records/modify", #"{"operations": [\#(operations.joined(separator: ", "))]}"#,
      as: service.alice)
    try #require(saved.outcomes.allSatisfy { $0 == "ok" }, "\(saved.json)")
  }

  /// Reads the changes of the shared zone after a token.
  private func changes(
    after token: String?, as user: TestUser, _ service: Service
  ) async throws -> (names: [String], token: String?, moreComing: Bool) {
    let member = token.map { #", "syncToken": "\#($0)""# } ?? ""
    let answer = try await service.post(
      "shared/changes/zone",
      """
      {"zones": [{"zoneID": {"zoneName": "Notes",
        "ownerRecordName": "\(service.alice.recordName)"}\(member)}]}
      """, as: user)
    let zone = try #require(answer.json["zones"]?.array?.first, "\(answer.json)")
    return (
      zone["records"]?.array?.compactMap { $0["recordName"]?.string } ?? [],
      zone["syncToken"]?.string, zone["moreComing"]?.bool == true
    )
  }

  @Test(
    "a change costs the same to forward and to read, however many records are shared",
    arguments: [false, true])
  func records(isZone: Bool) async throws {
    var work: [[String: Int]] = []
    for items in [10, 1_000] {
      try await SQLiteWork.watching {
        try await withService { service in
          let users = try await share(service, isZone: isZone, items: items)
          // The first and the last user of an index take a step less than those between.
          let user = users.sorted { $0.recordName < $1.recordName }[Self.participants / 2]
          var feed = try await changes(after: nil, as: user, service)
          while feed.moreComing {
            feed = try await changes(after: feed.token, as: user, service)
          }
          work.append(
            try await SQLiteWork.steps(in: service) {
              let before = service.server.dispatchMetrics.loggedNotifications
              try await save(["item-0"], service)
              try await eventually("each participant has a notification") {
                service.server.dispatchMetrics.loggedNotifications >= before + Self.participants
              }
              feed = try await changes(after: feed.token, as: user, service)
              // The parent has a new change tag.
              #expect(feed.names == ["item-0", "list"])
            })
        }
      }
    }
    let differing = Set(work[0].keys).union(work[1].keys)
      .filter { text in
        work[0][text] != work[1][text] && Self.tables.contains { text.contains(" \($0)") }
      }
      .map { "\(work[0][$0] ?? 0) and \(work[1][$0] ?? 0) steps: \($0)" }
    #expect(differing.isEmpty, "\(differing)")
    #expect(work[0].keys.contains { $0.contains("participants") }, "what is counted is there")
  }
}
