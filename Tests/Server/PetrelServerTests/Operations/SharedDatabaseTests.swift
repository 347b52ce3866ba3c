import CloudKitModel
import Foundation
import JSONCoding
import Testing

@testable import PetrelServer

/// The shared database over HTTP: Alice shares a list, Bob takes part in it.
struct SharedDatabaseTests {
  /// The requests of one participant.
  private struct Participant {
    let service: Service
    let user: TestUser

    /// The zone of Alice as the participant names it.
    var zoneID: String {
      #"{"zoneName": "Notes", "ownerRecordName": "\#(service.alice.recordName)"}"#
    }

    func post(_ operation: String, _ body: String) async throws -> Answer {
      try await service.post("shared/\(operation)", body, as: user)
    }

    func lookup(_ name: String) async throws -> Answer {
      try await post(
        "records/lookup", #"{"records": [{"recordName": "\#(name)"}], "zoneID": \#(zoneID)}"#)
    }

    func modify(_ kind: String, _ name: String, _ members: String = "") async throws -> Answer {
      try await post(
        "records/modify",
        """
        {"zoneID": \(zoneID), "operations": [{"operationType": "\(kind)", "record":
          {"recordName": "\(name)", "recordType": "Note"\(members)}}]}
        """)
    }

    /// Asks for the URL of an upload to the field `file` of a record.
    func askForUpload(to name: String) async throws -> Answer {
      try await post(
        "assets/upload",
        """
        {"zoneID": \(zoneID),
         "tokens": [{"recordName": "\(name)", "recordType": "Note", "fieldName": "file"}]}
        """)
    }

    func accept(_ guid: String) async throws {
      let answer = try await service.post(
        "public/records/accept", #"{"shortGUIDs": ["\#(guid)"]}"#, as: user)
      try #require(answer.json["results"]?.array?.first?["share"] != nil, "\(answer.json)")
    }
  }

  /// Saves a list with an item, and shares it with Bob. Returns the short GUID.
  private func share(
    _ service: Service, _ permission: String, item: String = ""
  ) async throws -> String {
    try await service.makeZone("Notes")
    let saved = try await service.modify(
      Service.operation("create", "list", zone: "Notes"),
      """
      {"operationType": "create", "record": {"recordName": "s", "recordType": "cloudkit.share",
       "zoneID": {"zoneName": "Notes"}, "fields": {}, "forRecord": {"recordName": "list"},
       "participants": [{"type": "USER", "permission": "\(permission)",
         "acceptanceStatus": "INVITED",
         "userIdentity": {"userRecordName": "\(service.bob.recordName)"}}]}}
      """,
      """
      {"operationType": "create", "record": {"recordName": "item", "recordType": "Note",
       "zoneID": {"zoneName": "Notes"}, "parent": {"recordName": "list"},
       "fields": {\(item)}}}
      """, Service.operation("create", "private", zone: "Notes"), in: "private")
    try #require(saved.outcomes == ["ok", "ok", "ok", "ok"], "\(saved.json)")
    return try #require(saved[1]["shortGUID"]?.string)
  }

  @Test("a participant finds, changes and follows the shared records, and no others")
  func records() async throws {
    try await withService { service in
      let guid = try await share(service, "READ_WRITE")
      let bob = Participant(service: service, user: service.bob)
      #expect(try await bob.lookup("item").outcomes == ["ZONE_NOT_FOUND"])
      try await bob.accept(guid)
      let zones = try await bob.post("zones/list", "")
      #expect(zones.items.count == 1)
      #expect(zones[0]["zoneID"]?["ownerRecordName"]?.string == service.alice.recordName)
      let database = try await bob.post("changes/database", "{}")
      #expect(database[0]["zoneID"]?["zoneName"]?.string == "Notes")
      let found = try await bob.post(
        "records/query", #"{"query": {"recordType": "Note"}, "zoneID": \#(bob.zoneID)}"#)
      #expect(Set(found.items.map(\.name)) == ["list", "item"], "\(found.json)")
      #expect(
        found[0]["zoneID"]?["ownerRecordName"]?.string == service.alice.recordName)
      #expect(try await bob.lookup("private").outcomes == ["NOT_FOUND"])

      let created = try await bob.modify(
        "create", "new", #", "parent": {"recordName": "list"}, "fields": {}"#)
      #expect(created.outcomes == ["ok"], "\(created.json)")
      #expect(created[0]["created"]?["userRecordName"]?.string == service.bob.recordName)
      #expect(created[0]["parent"]?["recordName"]?.string == "list")
      #expect(try await bob.modify("create", "loose").outcomes == ["ACCESS_DENIED"])
      let stale = try await bob.modify("update", "new", #", "recordChangeTag": "x""#)
      #expect(stale.outcomes == ["CONFLICT"])
      #expect(
        stale[0]["serverRecord"]?["zoneID"]?["ownerRecordName"]?.string
          == service.alice.recordName)
      let owners = try await service.lookup("new", in: "private", zone: "Notes")
      #expect(owners[0]["created"]?["userRecordName"]?.string == service.bob.recordName)

      func changes(since token: String?) async throws -> JSONValue {
        let suffix = token.map { #", "syncToken": "\#($0)""# } ?? ""
        let answer = try await bob.post(
          "changes/zone", #"{"zones": [{"zoneID": \#(bob.zoneID)\#(suffix)}]}"#)
        return try #require(answer.json["zones"]?.array?.first, "\(answer.json)")
      }
      let first = try await changes(since: nil)
      #expect(
        Set(first["records"]?.array?.map(\.name) ?? []) == ["list", "item", "new", "s"])
      let token = try #require(first["syncToken"]?.string)
      _ = try await service.modify(
        Service.operation("forceDelete", "item", zone: "Notes", type: nil),
        Service.operation("forceUpdate", "private", zone: "Notes"), in: "private")
      let second = try await changes(since: token)
      #expect(second["records"]?.array?.map(\.name) == ["item"])
      #expect(second["records"]?.array?.first?["deleted"]?.bool == true)
      let left = try await bob.post(
        "zones/modify",
        #"{"operations": [{"operationType": "delete", "zone": {"zoneID": \#(bob.zoneID)}}]}"#)
      #expect(left.outcomes == ["deleted"])
      let gone = try await bob.post(
        "changes/zone", #"{"zones": [{"zoneID": \#(bob.zoneID)}]}"#)
      #expect(gone.outcomes == ["ZONE_NOT_FOUND"])
      let misplaced = try await service.post(
        "private/records/lookup",
        #"{"records": [{"recordName": "list"}], "zoneID": \#(bob.zoneID)}"#, as: service.bob)
      #expect(misplaced.outcomes == ["BAD_DATABASE"])
    }
  }

  @Test("a participant saves files and downloads them, until the removal")
  func files() async throws {
    try await withService { service in
      let guid = try await share(service, "READ_WRITE")
      let bob = Participant(service: service, user: service.bob)
      #expect(try await bob.askForUpload(to: "item").failure == "404 ZONE_NOT_FOUND")
      try await bob.accept(guid)
      let bytes = Data("a picture".utf8)
      let url = try #require(try await bob.askForUpload(to: "item").uploadURLs.first)
      let uploaded = try await service.client.send("POST", url, body: bytes)
      let file = try #require(uploaded.json["singleFile"], "\(uploaded.json)")
      let saved = try await bob.modify(
        "forceUpdate", "item", #", "fields": {"file": {"value": \#(file.text)}}"#)
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      let mine = try service.path(
        try await bob.lookup("item")[0].field("file")?["downloadURL"])
      let owners = try service.path(
        try await service.lookup("item", in: "private", zone: "Notes")[0].field("file")?[
          "downloadURL"])
      for path in [mine, owners] {
        let download = try await service.client.send("GET", path)
        #expect(download.status == 200 && download.body == bytes)
      }
      let forged = mine.replacing("&owner=", with: "&owner=x")
      #expect(try await service.client.send("GET", forged).status == 403)
      let receipts = try await bob.post(
        "assets/rereference",
        """
        {"zoneID": \(bob.zoneID), "assets": [{"recordName": "item", "fieldName": "file"}]}
        """)
      let receipt = try #require(receipts.json["assets"]?.array?.first, "\(receipts.json)")
      let copied = try await bob.modify(
        "create", "copy",
        #", "parent": {"recordName": "list"}, "fields": {"file": {"value": \#(receipt.text)}}"#)
      #expect(copied.outcomes == ["ok"], "\(copied.json)")
      let later = try #require(try await bob.askForUpload(to: "item").uploadURLs.first)
      let usage = try await service.modify(
        """
        {"operationType": "forceUpdate", "record": {"recordName": "s",
         "recordType": "cloudkit.share", "zoneID": {"zoneName": "Notes"}, "participants": []}}
        """, in: "private")
      #expect(usage.outcomes == ["ok"])
      #expect(try await service.client.send("GET", mine).status == 404)
      #expect(try await service.client.send("GET", owners).status == 200)
      #expect(try await bob.askForUpload(to: "item").failure == "404 ZONE_NOT_FOUND")
      // The URL is still valid, but its file would count for the owner.
      let refused = try await service.client.send("POST", later, body: bytes)
      #expect(refused.failure == "403 ACCESS_DENIED", "\(refused.json)")
    }
  }

  @Test("what a participant saves counts for the owner, whose quota stays hidden")
  func quota() async throws {
    var settings = ServiceSettings()
    settings.limits.privateDatabaseBytes = 20_000
    try await withService(settings) { service in
      let guid = try await share(service, "READ_WRITE")
      let bob = Participant(service: service, user: service.bob)
      try await bob.accept(guid)
      let text = String(repeating: "x", count: 15_000)
      let first = try await bob.modify(
        "create", "first",
        #", "parent": {"recordName": "list"}, "fields": {"text": {"value": "\#(text)"}}"#)
      #expect(first.outcomes == ["ok"], "\(first.json)")
      let second = try await bob.modify(
        "create", "second",
        #", "parent": {"recordName": "list"}, "fields": {"text": {"value": "\#(text)"}}"#)
      #expect(second.outcomes == ["QUOTA_EXCEEDED"])
      #expect(!second[0].reason.contains("bytes") && !second.body.contains(Data("20000".utf8)))
      let url = try #require(try await bob.askForUpload(to: "item").uploadURLs.first)
      let upload = try await service.client.send("POST", url, body: Data(text.utf8))
      #expect(upload.failure == "413 QUOTA_EXCEEDED" || upload.failure.hasSuffix("QUOTA_EXCEEDED"))
      #expect(!upload.body.contains(Data("20000".utf8)), "\(upload.reason)")
      let owners = try await service.modify(
        Service.operation("create", "big", #""text": {"value": "\#(text)"}"#, zone: "Notes"),
        in: "private")
      #expect(owners.outcomes == ["QUOTA_EXCEEDED"])
    }
  }

  @Test("a participant who may only read cannot upload files")
  func readOnly() async throws {
    try await withService { service in
      let guid = try await share(service, "READ_ONLY")
      let bob = Participant(service: service, user: service.bob)
      try await bob.accept(guid)
      #expect(try await bob.askForUpload(to: "item").failure == "403 ACCESS_DENIED")
      #expect(try await bob.modify("forceUpdate", "item").outcomes == ["ACCESS_DENIED"])
    }
  }
}
