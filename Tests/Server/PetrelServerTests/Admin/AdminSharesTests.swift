import Foundation
import JSONCoding
import Testing

@testable import PetrelServer

/// The shares of users in the admin API.
struct AdminSharesTests {
  private static let container = "container=\(Service.container)"
  /// The arguments that name Alice's share of a list.
  private static let arguments: [String: JSONValue] = [
    "container": .string(Service.container), "owner": "alice", "zone": "Notes", "share": "s",
  ]
  private static let query = "\(container)&owner=alice&zone=Notes&share=s"

  /// A service in which Alice shares a list with an item, and Bob and an address are invited.
  private func withShare(
    _ body: (Service, _ key: String, _ guid: String) async throws -> Void
  ) async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      try await service.makeZone("Notes")
      let saved = try await service.modify(
        Service.operation("create", "list", zone: "Notes"),
        """
        {"operationType": "create", "record": {"recordName": "s", "recordType": "cloudkit.share",
         "zoneID": {"zoneName": "Notes"}, "fields": {"cloudkit.title": {"value": "Food"}},
         "forRecord": {"recordName": "list"},
         "participants": [
           {"type": "USER", "permission": "READ_WRITE", "acceptanceStatus": "INVITED",
            "userIdentity": {"userRecordName": "\(service.bob.recordName)"}},
           {"type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "INVITED",
            "userIdentity": {"lookupInfo": {"emailAddress": "Eve@Example.com"}}}]}}
        """,
        """
        {"operationType": "create", "record": {"recordName": "item", "recordType": "Note",
         "zoneID": {"zoneName": "Notes"}, "parent": {"recordName": "list"}, "fields": {}}}
        """, in: "private")
      try #require(saved.outcomes == ["ok", "ok", "ok"], "\(saved.json)")
      try await body(service, key, try #require(saved[1]["shortGUID"]?.string))
    }
  }

  private func accept(_ guid: String, as user: TestUser, at service: Service) async throws -> String
  {
    let answer = try await service.post(
      "public/records/accept", #"{"shortGUIDs": ["\#(guid)"]}"#, as: user)
    let result = answer.json["results"]?.array?.first
    return result?["serverErrorCode"]?.string ?? "ok"
  }

  private func post(
    _ path: String, _ more: [String: JSONValue], _ key: String, at service: Service
  ) async throws -> Answer {
    try await service.adminPost(
      "shares/\(path)", .object(Self.arguments.merging(more) { $1 }), key: key)
  }

  @Test("a share is shown with its owner, participants, records and link")
  func shown() async throws {
    try await withShare { service, key, guid in
      #expect(try await accept(guid, as: service.bob, at: service) == "ok")
      let answer = try await service.adminGet("shares/show?\(Self.query)", key: key)
      let share = answer.json
      try #require(answer.status == 200, "\(share)")
      #expect(share["share"] == "s" && share["zone"] == "Notes" && share["root"] == "list")
      #expect(share["owner"]?.string == service.alice.recordName && share["ownerName"] == "alice")
      #expect(share["publicPermission"] == "NONE" && share["allowsAccessRequests"] == false)
      #expect(share["records"] == 2 && share["moreRecords"] == false)
      #expect(share["invited"] == 1 && share["accepted"] == 1)
      #expect(share["link"]?.string?.hasSuffix("/share/\(guid)#Food") == true)
      let participants = share["participants"]?.array ?? []
      func participant(_ member: String, _ value: String) -> JSONValue? {
        participants.first { $0[member]?.string == value }
      }
      #expect(participants.count == 3)
      #expect(participant("userName", "alice")?["role"] == "OWNER")
      let bob = try #require(participant("userName", "bob"))
      #expect(bob["user"]?.string == service.bob.recordName && bob["state"] == "ACCEPTED")
      #expect(bob["permission"] == "READ_WRITE" && bob["role"] == "USER")
      #expect(bob["added"]?.int != nil && bob["participantID"]?.string != nil)
      let eve = try #require(participant("emailAddress", "eve@example.com"))
      #expect(eve["state"] == "INVITED" && eve["permission"] == "READ_ONLY" && eve["user"] == nil)
    }
  }

  @Test("shares are listed by owner and participant, page by page")
  func listed() async throws {
    try await withShare { service, key, _ in
      try await service.makeZone("More")
      let saved = try await service.modify(
        """
        {"operationType": "create", "record": {"recordName": "cloudkit.zoneshare",
         "recordType": "cloudkit.share", "zoneID": {"zoneName": "More"}, "fields": {},
         "publicPermission": "READ_ONLY"}}
        """, in: "private")
      try #require(saved.outcomes == ["ok"], "\(saved.json)")
      func shares(_ more: String) async throws -> [String?] {
        let answer = try await service.adminGet("shares?\(Self.container)\(more)", key: key)
        #expect(answer.status == 200, "\(answer.json)")
        return answer.json["shares"]?.array?.map { $0["share"]?.string } ?? []
      }
      #expect(try await shares("") == ["s", "cloudkit.zoneshare"])
      #expect(try await shares("&owner=alice") == ["s", "cloudkit.zoneshare"])
      #expect(try await shares("&owner=bob") == [])
      #expect(try await shares("&participant=bob") == ["s"])
      #expect(try await shares("&participant=bob&environment=production") == [])
      let first = try await service.adminGet("shares?\(Self.container)&limit=1", key: key).json
      #expect(first["shares"]?.array?.map { $0["invited"] } == [2])
      let next = try #require(first["continuation"]?.string)
      #expect(try await shares("&limit=1&continuation=\(next)") == ["cloudkit.zoneshare"])
      let wrong = try await service.adminGet(
        "shares?\(Self.container)&continuation=WyJhIiwiYiJd", key: key)
      #expect(wrong.failure == "400 BAD_REQUEST", "\(wrong.json)")
    }
  }

  @Test("a participant is removed by name or address, and has lost the zone from then on")
  func removal() async throws {
    try await withShare { service, key, guid in
      #expect(try await accept(guid, as: service.bob, at: service) == "ok")
      let mounted = try await service.post("shared/zones/list", "", as: service.bob)
      #expect(mounted.items.count == 1)
      let removed = try await post("remove", ["participant": "bob"], key, at: service)
      #expect(removed.status == 200 && removed.json["accepted"] == 0, "\(removed.json)")
      #expect(
        try await service.post("shared/zones/list", "", as: service.bob).items.isEmpty)
      #expect(try await accept(guid, as: service.bob, at: service) != "ok")
      let withdrawn = try await post("remove", ["participant": "EVE@example.com"], key, at: service)
      #expect(withdrawn.json["participants"]?.array?.count == 1, "\(withdrawn.json)")
      // The owner's next save with the tag from before is a conflict.
      let stale = try await service.modify(
        """
        {"operationType": "update", "record": {"recordName": "s", "recordType": "cloudkit.share",
         "recordChangeTag": "x", "zoneID": {"zoneName": "Notes"}, "fields": {}}}
        """, in: "private")
      #expect(stale.outcomes == ["CONFLICT"])
    }
  }

  @Test("a new link replaces the old one, and the end of a share keeps its records")
  func linkAndEnd() async throws {
    try await withShare { service, key, guid in
      let renewed = try await post("new-link", [:], key, at: service)
      let link = try #require(renewed.json["link"]?.string, "\(renewed.json)")
      #expect(!link.contains(guid))
      let next = try #require(URL(string: link)?.lastPathComponent)
      #expect(try await accept(guid, as: service.bob, at: service) == "NOT_FOUND")
      #expect(try await accept(next, as: service.bob, at: service) == "ok")
      let ended = try await post("end", [:], key, at: service)
      #expect(ended.status == 200 && ended.json == ["ended": "s"], "\(ended.json)")
      #expect(
        try await service.post("shared/zones/list", "", as: service.bob).items.isEmpty)
      let item = try await service.lookup("item", in: "private", zone: "Notes")
      #expect(item.outcomes == ["ok"], "\(item.json)")
      let again = try await post("end", [:], key, at: service)
      #expect(again.failure == "404 NOT_FOUND", "\(again.json)")
    }
  }

  @Test("the readers of a record are its owner and those who accepted its share")
  func readers() async throws {
    try await withShare { service, key, guid in
      func readers(_ name: String) async throws -> JSONValue {
        try await service.adminGet(
          "records/readers?\(Self.container)&owner=alice&zone=Notes&recordName=\(name)", key: key
        ).json
      }
      func names(_ readers: JSONValue) -> [String?] {
        readers["readers"]?.array?.map { $0["userName"]?.string } ?? []
      }
      #expect(names(try await readers("item")) == ["alice"])
      #expect(try await accept(guid, as: service.bob, at: service) == "ok")
      let item = try await readers("item")
      #expect(names(item) == ["alice", "bob"] && item["share"]?["share"] == "s", "\(item)")
      #expect(item["readers"]?.array?.last?["permission"] == "READ_WRITE")
      let alone = try await service.modify(
        Service.operation("create", "alone", zone: "Notes"), in: "private")
      try #require(alone.outcomes == ["ok"])
      let only = try await readers("alone")
      #expect(names(only) == ["alice"] && only["share"] == nil, "\(only)")
      #expect(try await readers("none")["serverErrorCode"] == "NOT_FOUND")
    }
  }

  @Test(
    "what is not there is named",
    arguments: [
      ("remove", ["participant": "zoe"], "404 NOT_FOUND", "has no participant 'zoe'"),
      ("remove", ["participant": "alice"], "400 BAD_REQUEST", "the owner of share 's' cannot"),
      ("remove", [:], "400 BAD_REQUEST", "'participant' is missing"),
      ("remove", ["share": "t", "participant": "bob"], "404 NOT_FOUND", "there is no share 't'"),
      ("end", ["share": "list"], "404 NOT_FOUND", "there is no share 'list' in zone"),
      ("end", ["zone": "Other"], "404 NOT_FOUND", "there is no share 's' in zone 'Other'"),
      ("new-link", ["owner": "bob"], "404 NOT_FOUND", "no private database"),
      ("new-link", ["owner": "zoe"], "400 BAD_REQUEST", "'owner' is not the name of an account"),
      ("new-link", ["environment": "production"], "404 NOT_FOUND", "no private database"),
    ])
  func mistakes(
    _ path: String, _ more: [String: String], _ failure: String, _ reason: String
  ) async throws {
    try await withShare { service, key, _ in
      let answer = try await post(path, more.mapValues { .string($0) }, key, at: service)
      #expect(answer.failure == failure, "\(answer.json)")
      #expect(answer.reason.contains(reason), "\(answer.reason)")
    }
  }
}
