import JSONCoding
import Testing

@testable import DatabaseAPI

struct ChangesTests {
  @Test("A zone's changes come page by page with its token")
  func zone() async throws {
    try await withService { service in
      try await service.makeZone("A")
      let first = try await service.changes(#"{"zoneID": {"zoneName": "A"}}"#)
      #expect(first[0]["records"]?.array?.count == 0 && first[0]["moreComing"] == .bool(false))
      let token = try #require(first[0]["syncToken"]?.string)
      _ = try await service.modify(
        Service.operation("create", "a", #""x": {"value": 1}, "y": {"value": 2}"#, zone: "A"),
        Service.operation("create", "b", zone: "A"), Service.operation("create", "c", zone: "A"),
        in: "private")
      _ = try await service.modify(
        Service.operation("forceDelete", "b", zone: "A"), in: "private")
      let page = try await service.changes(
        #"{"zoneID": {"zoneName": "A"}, "syncToken": "\#(token)", "resultsLimit": 2, "#
          + #""desiredKeys": ["x"], "numbersAsStrings": true}"#)
      #expect(page[0].changedNames == ["a", "c"])
      #expect(page[0]["moreComing"] == .bool(true))
      let fields = page[0]["records"]?.array?[0]["fields"]
      #expect(fields == ["x": ["value": "1", "type": "INT64"]])
      let next = try #require(page[0]["syncToken"]?.string)
      let rest = try await service.changes(
        #"{"zoneID": {"zoneName": "A"}, "syncToken": "\#(next)"}"#)
      #expect(rest[0].changedNames == ["-b Note"])
      #expect(rest[0]["moreComing"] == .bool(false))
    }
  }

  @Test("Each zone of a request has its own outcome")
  func severalZones() async throws {
    try await withService { service in
      for name in ["A", "B", "C"] { try await service.makeZone(name) }
      let token = try await service.changes(#"{"zoneID": {"zoneName": "C"}}"#)[0]["syncToken"]
      _ = try await service.modify(Service.operation("create", "a", zone: "A"), in: "private")
      try await service.deleteZone("B")
      try await service.deleteZone("C")
      try await service.makeZone("C")
      let database = try await service.post("private/changes/database", "{}", as: service.alice)
      let databaseToken = try #require(database.json["syncToken"]?.string)
      let answer = try await service.changes(
        #"{"zoneID": {"zoneName": "A"}}"#, #"{"zoneID": {"zoneName": "B"}}"#,
        #"{"zoneID": {"zoneName": "C"}, "syncToken": "\#(token?.string ?? "")"}"#,
        #"{"zoneID": {"zoneName": "none"}}"#, #"{"zoneID": {}}"#,
        #"{"zoneID": {"zoneName": "A"}, "syncToken": "\#(databaseToken)"}"#,
        #"{"zoneID": {"zoneName": "A"}, "syncToken": "AQAAAWEf/w=="}"#,
        #"{"zoneID": {"zoneName": "A"}, "resultsLimit": -1}"#)
      #expect(
        answer.outcomes == [
          "ok", "ZONE_NOT_FOUND", "CHANGE_TOKEN_EXPIRED", "ZONE_NOT_FOUND", "BAD_REQUEST",
          "BAD_REQUEST", "CHANGE_TOKEN_EXPIRED", "BAD_REQUEST",
        ])
      #expect(answer[0].changedNames == ["a"])
      #expect(answer[1]["zoneID"]?["zoneName"]?.string == "B")
      #expect(answer[4].reason.contains("the default zone has no change feed"))
      #expect(answer[5].reason.contains("one of the database"))
    }
  }

  @Test("An answer holds so many bytes; the zones behind have more coming and lose nothing")
  func answerSize() async throws {
    try await withService { service in
      let names = ["A", "B", "C"]
      for name in names {
        try await service.makeZone(name)
        for half in 0..<2 {
          let text = String(repeating: "x", count: 900_000)
          _ = try await service.modify(
            Service.operation(
              "create", "\(name)\(half)", #""x": {"value": "\#(text)"}"#, zone: name),
            Service.operation(
              "create", "\(name)\(half)+", #""x": {"value": "\#(text)"}"#, zone: name),
            in: "private")
        }
      }
      var tokens: [String: String] = [:]
      var seen: [String] = []
      var pending = names
      var rounds = 0
      while !pending.isEmpty {
        rounds += 1
        let answer = try await service.changes(
          pending.map { name in
            let token = tokens[name].map { #", "syncToken": "\#($0)""# } ?? ""
            return #"{"zoneID": {"zoneName": "\#(name)"}, "desiredKeys": []\#(token)}"#
          })
        #expect(answer.outcomes == pending.map { _ in "ok" })
        if rounds == 1 {
          #expect(answer[2].changedNames == [] && answer[2]["moreComing"] == .bool(true))
        }
        var next: [String] = []
        for (name, zone) in zip(pending, answer.items) {
          seen += zone.changedNames
          tokens[name] = zone["syncToken"]?.string
          if zone["moreComing"] == .bool(true) { next.append(name) }
        }
        pending = next
      }
      #expect(seen.sorted() == names.flatMap { ["\($0)0", "\($0)0+", "\($0)1", "\($0)1+"] })
      #expect(rounds == 3)
    }
  }

  @Test("Newest first, and only some types")
  func reverse() async throws {
    try await withService { service in
      try await service.makeZone("A")
      _ = try await service.modify(
        Service.operation("create", "a", zone: "A"),
        Service.operation("create", "b", zone: "A", type: "Other"),
        Service.operation("create", "c", zone: "A"), in: "private")
      let answer = try await service.post(
        "private/changes/zone",
        #"{"zones": [{"zoneID": {"zoneName": "A"}}], "reverse": true, "#
          + #""desiredRecordTypes": ["Note"]}"#, as: service.alice)
      #expect(answer[0].changedNames == ["c", "a"])
    }
  }

  @Test("records/changes answers for one zone, and refuses as a whole")
  func records() async throws {
    try await withService { service in
      try await service.makeZone("A")
      _ = try await service.modify(Service.operation("create", "a", zone: "A"), in: "private")
      let answer = try await service.post(
        "private/records/changes", #"{"zoneID": {"zoneName": "A"}}"#, as: service.alice)
      #expect(answer.status == 200 && answer.json.changedNames == ["a"])
      let token = try #require(answer.json["syncToken"]?.string)
      let next = try await service.post(
        "private/records/changes",
        #"{"zoneID": {"zoneName": "A"}, "syncToken": "\#(token)"}"#, as: service.alice)
      #expect(next.json.changedNames == [] && next.json["moreComing"] == .bool(false))
      try await service.deleteZone("A")
      let gone = try await service.post(
        "private/records/changes", #"{"zoneID": {"zoneName": "A"}}"#, as: service.alice)
      #expect(gone.failure == "404 ZONE_NOT_FOUND")
      try await service.makeZone("A")
      let expired = try await service.post(
        "private/records/changes",
        #"{"zoneID": {"zoneName": "A"}, "syncToken": "\#(token)"}"#, as: service.alice)
      #expect(expired.failure == "400 CHANGE_TOKEN_EXPIRED")
      let unnamed = try await service.post("private/records/changes", "{}", as: service.alice)
      #expect(unnamed.failure == "400 BAD_REQUEST")
    }
  }

  @Test(
    "The database's zones, in the current form and the one it superseded",
    arguments: [("changes/database", "syncToken"), ("zones/changes", "metaSyncToken")])
  func database(operation: String, key: String) async throws {
    try await withService { service in
      for name in ["A", "B"] { try await service.makeZone(name) }
      let first = try await service.post("private/\(operation)", "{}", as: service.alice)
      #expect(first.zoneNames == ["A", "B"] && first.json["moreComing"] == .bool(false))
      let token = try #require(first.json[key]?.string)
      _ = try await service.modify(Service.operation("create", "a", zone: "A"), in: "private")
      try await service.deleteZone("B")
      let second = try await service.post(
        "private/\(operation)", #"{"\#(key)": "\#(token)", "resultsLimit": 1}"#,
        as: service.alice)
      #expect(second.zoneNames == ["A"] && second.json["moreComing"] == .bool(true))
      let next = try #require(second.json[key]?.string)
      let third = try await service.post(
        "private/\(operation)", #"{"\#(key)": "\#(next)"}"#, as: service.alice)
      #expect(third.zoneNames == ["-B"] && third.json["moreComing"] == .bool(false))
      let foreign = try await service.post(
        "private/\(operation)", #"{"\#(key)": "\#(next)"}"#, as: service.bob)
      #expect(foreign.failure == "400 CHANGE_TOKEN_EXPIRED")
    }
  }

  @Test("The token's other name is ignored in zones/changes")
  func metaSyncToken() async throws {
    try await withService { service in
      try await service.makeZone("A")
      let first = try await service.post("private/zones/changes", "{}", as: service.alice)
      let token = try #require(first.json["metaSyncToken"]?.string)
      let again = try await service.post(
        "private/zones/changes", #"{"syncToken": "\#(token)"}"#, as: service.alice)
      #expect(again.zoneNames == ["A"])
    }
  }

  @Test(
    "The public database has no feed of zones, and others need a user",
    arguments: ["changes/database", "changes/zone", "zones/changes", "records/changes"])
  func refused(operation: String) async throws {
    try await withService { service in
      let body = #"{"zones": [], "zoneID": {"zoneName": "A"}}"#
      let publicly = try await service.post("public/\(operation)", body, as: service.alice)
      if operation == "changes/database" || operation == "zones/changes" {
        #expect(publicly.failure == "400 BAD_DATABASE")
        #expect(publicly.reason.contains("the public database has one zone"))
      }
      let anonymously = try await service.post("private/\(operation)", body, as: nil)
      #expect(anonymously.failure == "421 AUTHENTICATION_REQUIRED")
      let shared = try await service.post("shared/\(operation)", body, as: service.alice)
      #expect(shared.status == (operation == "records/changes" ? 404 : 200))
    }
  }

  @Test("The public database's default zone has a feed, for everyone")
  func publicFeed() async throws {
    try await withService { service in
      _ = try await service.modify(
        Service.operation("create", "a"), Service.operation("create", "b"), in: "public")
      let first = try await service.post(
        "public/records/changes", #"{"resultsLimit": 1}"#, as: nil)
      #expect(first.json.changedNames == ["a"])
      #expect(first.json["moreComing"] == .bool(true))
      let token = try #require(first.json["syncToken"]?.string)
      _ = try await service.modify(Service.operation("forceDelete", "b"), in: "public")
      try await service.restart()
      let rest = try await service.post(
        "public/changes/zone",
        #"{"zones": [{"zoneID": {"zoneName": "_defaultZone"}, "syncToken": "\#(token)"}]}"#,
        as: service.bob)
      let zone = try #require(rest.json["zones"]?.array?.first)
      #expect(zone.changedNames == ["-b Note"] && zone["moreComing"] == .bool(false))
      let fresh = try await service.post("public/records/changes", "{}", as: nil)
      #expect(fresh.json.changedNames == ["a"])
      let since = try #require(fresh.json["syncToken"]?.string)
      _ = try await service.modify(Service.operation("forceDelete", "a"), in: "public")
      let gone = try await service.post(
        "public/records/changes", #"{"syncToken": "\#(since)"}"#, as: nil)
      #expect(gone.json.changedNames == ["-a Note"])
    }
  }

  @Test("A device is told what it left with its last change of the zone, after a restart too")
  func clientChangeTokens() async throws {
    try await withService { service in
      try await service.makeZone("A")
      _ = try await service.modify(
        Service.operation("create", "a", zone: "A"), in: "private", device: "phone",
        more: #", "clientChangeTokenData": "AQID""#)
      try await service.restart()
      for (device, expected) in [("phone", "AQID"), ("mac", nil)] as [(String, String?)] {
        let answer = try await service.post(
          "private/changes/zone", #"{"zones": [{"zoneID": {"zoneName": "A"}}]}"#,
          as: service.alice, device: device)
        #expect(answer[0]["clientChangeTokenData"]?.string == expected)
      }
    }
  }

  @Test("Deletions are forgotten in time, and with them the tokens from before")
  func forgotten() async throws {
    try await withService { service in
      try await service.makeZone("A")
      _ = try await service.modify(Service.operation("create", "a", zone: "A"), in: "private")
      let token = try await service.changes(#"{"zoneID": {"zoneName": "A"}}"#)[0]["syncToken"]
      _ = try await service.modify(
        Service.operation("forceDelete", "a", zone: "A"), in: "private")
      service.clock.advance(bySeconds: 91 * 24 * 60 * 60)
      try await service.store.maintenance.trim(at: service.clock.read())
      // The user's own token is older still than the deletion.
      let account = try #require(try await service.store.accounts.user(named: "alice"))
      let user = TestUser(
        name: "alice", recordName: account.userRecordName,
        token: try await Account.makeToken(
          for: account, in: service.store.accounts, at: service.clock.read()))
      let answer = try await service.post(
        "private/changes/zone",
        #"{"zones": [{"zoneID": {"zoneName": "A"}, "syncToken": "\#(token?.string ?? "")"}]}"#,
        as: user)
      #expect(answer.outcomes == ["CHANGE_TOKEN_EXPIRED"])
      service.clock.advance(bySeconds: -91 * 24 * 60 * 60)
    }
  }
}

extension Service {
  /// Asks for changes of zones given as JSON objects.
  fileprivate func changes(_ zones: String...) async throws -> Answer {
    try await changes(zones)
  }

  fileprivate func changes(_ zones: [String]) async throws -> Answer {
    let answer = try await post(
      "private/changes/zone", #"{"zones": [\#(zones.joined(separator: ", "))]}"#, as: alice)
    try #require(answer.status == 200, "\(answer.json)")
    return answer
  }

  fileprivate func deleteZone(_ name: String) async throws {
    let answer = try await post(
      "private/zones/modify",
      #"{"operations": [{"operationType": "delete", "zone": {"zoneID": {"zoneName": "\#(name)"}}}]}"#,
      as: alice)
    try #require(answer.outcomes == ["deleted"], "\(answer.json)")
  }
}

extension JSONValue {
  /// The names of a page's records; those of deleted ones with `-` before and the type behind.
  fileprivate var changedNames: [String] {
    (self["records"]?.array ?? []).map { record in
      record["deleted"] == .bool(true)
        ? "-\(record.name) \(record["recordType"]?.string ?? "")" : record.name
    }
  }
}

extension Answer {
  /// The zones' names; those of deleted ones with `-` before.
  fileprivate var zoneNames: [String] {
    items.map { zone in
      (zone.outcome == "deleted" ? "-" : "") + (zone["zoneID"]?["zoneName"]?.string ?? "")
    }
  }
}
