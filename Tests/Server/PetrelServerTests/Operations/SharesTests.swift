import CloudKitModel
import JSONCoding
import Testing

@testable import PetrelServer

struct SharesTests {
  /// An operation on a share, with members besides its fields.
  private func share(
    _ kind: String, _ members: String, name: String = "s", zone: String = "Notes"
  ) -> String {
    """
    {"operationType": "\(kind)", "record": {"recordName": "\(name)", "recordType": "cloudkit.share",
     "zoneID": {"zoneName": "\(zone)"}, "fields": {"cloudkit.title": {"value": "Our list"}}, \(members)}}
    """
  }

  @Test("a share is saved with its root, and has the members of the protocol")
  func saving() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let root = Service.operation("create", "root", zone: "Notes")
      let participants = """
        "publicPermission": "NONE", "participants": [
          {"type": "USER", "permission": "READ_ONLY",
           "userIdentity": {"lookupInfo": {"emailAddress": "Bob@example.com"}}}]
        """
      let create = share("create", #""forRecord": {"recordName": "root"}, "# + participants)
      let saved = try await service.modify(create, root, in: "private")
      #expect(saved.outcomes == ["ok", "ok"], "\(saved.json)")
      let answer = saved[0]
      let guid = try #require(answer["shortGUID"]?.string)
      #expect(answer["webpageURL"]?.string?.hasSuffix("/share/\(guid)#Our%20list") == true)
      #expect(answer["publicPermission"]?.string == "NONE")
      #expect(
        answer["owner"]?["userIdentity"]?["userRecordName"]?.string == service.alice.recordName)
      #expect(answer["currentUserParticipant"]?["type"]?.string == "OWNER")
      #expect(answer["denyAccessRequests"]?.bool == true)
      let list = answer["participants"]?.array ?? []
      #expect(list.map { $0["type"]?.string } == ["OWNER", "USER"])
      #expect(
        list.last?["userIdentity"]?["lookupInfo"]?["emailAddress"]?.string == "bob@example.com")
      #expect(list.last?["acceptanceStatus"]?.string == "INVITED")
      #expect(saved[1]["share"]?["recordName"]?.string == "s")
      let found = try await service.lookup("s", "root", in: "private", zone: "Notes")
      #expect(found[0]["shortGUID"]?.string == guid)
      #expect(found[1]["share"]?["recordName"]?.string == "s")

      // A list of participants is the whole one; a request without it leaves it.
      let kept = try await service.modify(
        share("forceUpdate", #""denyAccessRequests": false"#), in: "private")
      #expect(
        kept[0]["participants"]?.array?.count == 2 && kept[0]["denyAccessRequests"]?.bool == false)
      let removed = try await service.modify(
        share("forceUpdate", #""participants": []"#), in: "private")
      #expect(removed[0]["participants"]?.array?.count == 1)
      let ended = try await service.modify(
        Service.operation("forceDelete", "s", zone: "Notes", type: nil), in: "private")
      #expect(ended.outcomes == ["deleted"])
      let after = try await service.lookup("root", in: "private", zone: "Notes")
      #expect(after[0]["share"] == nil)
    }
  }

  @Test("each rule of saving a share has its error")
  func refusals() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let root = Service.operation("forceUpdate", "root", zone: "Notes")
      let ofRoot = #""forRecord": {"recordName": "root"}"#
      let alone = try await service.modify(root, in: "private")
      #expect(alone.outcomes == ["ok"])
      let late = try await service.modify(share("create", ofRoot), in: "private")
      #expect(late.outcomes == ["BAD_REQUEST"])
      #expect(late[0].reason.contains("without its root record 'root'"))
      let never = try await service.modify(
        share("create", #""forRecord": {"recordName": "never"}"#), in: "private")
      #expect(never.outcomes == ["BAD_REQUEST"] && never[0].reason.contains("does not exist"))
      let inPublic = try await service.modify(
        Service.operation("create", "root"), share("create", ofRoot, zone: "_defaultZone"))
      #expect(inPublic.outcomes == ["ATOMIC_ERROR", "BAD_DATABASE"], "\(inPublic.json)")
      let first = try await service.modify(root, share("create", ofRoot), in: "private")
      #expect(first.outcomes == ["ok", "ok"])
      let second = try await service.modify(
        root, share("create", ofRoot, name: "t"), in: "private")
      #expect(second.outcomes == ["ATOMIC_ERROR", "ALREADY_SHARED"])
      let child = try await service.modify(
        #"""
        {"operationType": "create", "record": {"recordName": "child", "recordType": "Note",
         "zoneID": {"zoneName": "Notes"}, "parent": {"recordName": "root"}}}
        """#, in: "private")
      #expect(child.outcomes == ["ok"], "\(child.json)")
      let parent = try await service.modify(
        Service.operation("forceDelete", "root", zone: "Notes", type: nil), in: "private")
      #expect(parent.outcomes == ["VALIDATING_REFERENCE_ERROR"])
      let many = (1...100).map { number in
        """
        {"type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "INVITED",
         "userIdentity": {"userRecordName": "_u\(number)"}}
        """
      }.joined(separator: ",")
      let tooMany = try await service.modify(
        share("forceUpdate", "\"participants\": [\(many)]"), in: "private")
      #expect(tooMany.outcomes == ["TOO_MANY_PARTICIPANTS"])
    }
  }

  /// The answer to `records/resolve` for one short GUID.
  private func resolve(
    _ guid: String, as user: TestUser, _ service: Service, more: String = "",
    in environment: ContainerEnvironment = .development
  ) async throws -> JSONValue {
    let answer = try await service.post(
      "public/records/resolve", #"{"shortGUIDs": [{"value": "\#(guid)"\#(more)}]}"#, as: user,
      in: environment)
    return try #require(answer.json["results"]?.array?.first, "\(answer.json)")
  }

  @Test("a share is visible to its owner and to who is invited, and to others it does not exist")
  func looking() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let root = Service.operation(
        "forceUpdate", "root", #""title": {"value": "Milk"}"#, zone: "Notes")
      func save(_ members: String) async throws -> JSONValue {
        let saved = try await service.modify(root, share("forceUpdate", members), in: "private")
        try #require(saved.outcomes == ["ok", "ok"], "\(saved.json)")
        return saved[1]
      }
      func invited(_ identity: String) -> String {
        """
        "participants": [{"type": "USER", "permission": "READ_WRITE",
          "acceptanceStatus": "INVITED", "userIdentity": \(identity)}]
        """
      }
      let first = try await save(
        #""forRecord": {"recordName": "root"}, "#
          + invited(#"{"userRecordName": "\#(service.bob.recordName)"}"#))
      let guid = try #require(first["shortGUID"]?.string)
      let own = try await resolve(
        guid, as: service.alice, service, more: #", "shouldFetchRootRecord": true"#)
      #expect(
        own["databaseScope"]?.string == "PRIVATE" && own["participantType"]?.string == "OWNER")
      #expect(own["rootRecord"]?["fields"]?["title"]?["value"]?.string == "Milk")
      #expect(own["zoneID"]?["ownerRecordName"]?.string == service.alice.recordName)
      let bobs = try await resolve(guid, as: service.bob, service)
      #expect(bobs["databaseScope"]?.string == "SHARED" && bobs["rootRecordName"]?.string == "root")
      #expect(bobs["participantStatus"]?.string == "INVITED" && bobs["rootRecord"] == nil)
      #expect(bobs["participantPermission"]?.string == "READ_WRITE")
      #expect(bobs["share"]?["webpageURL"]?.string == bobs["webpageURL"]?.string)
      #expect(bobs["share"]?["denyAccessRequests"] == nil)
      let unknown = try await resolve(String(guid.dropLast()), as: service.bob, service)
      #expect(unknown.outcome == "NOT_FOUND")
      let elsewhere = try await resolve(guid, as: service.bob, service, in: .production)
      #expect(elsewhere.outcome == "NOT_FOUND")
      #expect(elsewhere["reason"]?.string == unknown["reason"]?.string)

      _ = try await save(invited(#"{"lookupInfo": {"emailAddress": "nobody@example.com"}}"#))
      let waiting = try await resolve(guid, as: service.bob, service)
      #expect(waiting.outcome == "PARTICIPANT_MAY_NEED_VERIFICATION")
      _ = try await save(#""participants": []"#)
      #expect(try await resolve(guid, as: service.bob, service).outcome == "NOT_FOUND")
      // A link for a single use is for whoever has it; the share's own link is not.
      let oneTime = try await save(invited("{}"))
      let link = try #require(
        oneTime["oneTimeStableUrlInfo"]?["oneTimeLinks"]?.array?.first?["sharingLink"]?.string)
      let single = try #require(link.split(separator: "/").last?.split(separator: "#").first)
      #expect(try await resolve(String(single), as: service.bob, service).outcome == "ok")
      #expect(try await resolve(guid, as: service.bob, service).outcome == "NOT_FOUND")
      _ = try await save(#""participants": []"#)
      #expect(try await resolve(String(single), as: service.bob, service).outcome == "NOT_FOUND")

      _ = try await save(#""publicPermission": "READ_ONLY""#)
      let anyone = try await resolve(guid, as: service.bob, service)
      #expect(anyone["participantType"]?.string == "PUBLIC_USER")
      #expect(anyone["participantPermission"]?.string == "READ_ONLY")
      _ = try await service.modify(
        Service.operation("forceDelete", "s", zone: "Notes", type: nil), in: "private")
      #expect(try await resolve(guid, as: service.alice, service).outcome == "NOT_FOUND")
    }
  }

  @Test("a request for access is recorded once, and its answer says nothing about the share")
  func requests() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let root = Service.operation("forceUpdate", "root", zone: "Notes")
      let open = #""denyAccessRequests": false"#
      let saved = try await service.modify(
        root, share("create", #""forRecord": {"recordName": "root"}"#), in: "private")
      let guid = try #require(saved[1]["shortGUID"]?.string)
      func ask(_ guid: String) async throws -> String {
        let answer = try await service.post(
          "public/records/requestAccess", #"{"shortGUIDs": ["\#(guid)"]}"#, as: service.bob)
        let result = try #require(answer.json["results"]?.array?.first)
        #expect(result["shortGUID"]?["value"]?.string == guid)
        return result.outcome
      }
      func change(_ members: String) async throws -> JSONValue {
        let saved = try await service.modify(share("forceUpdate", members), in: "private")
        try #require(saved.outcomes == ["ok"], "\(saved.json)")
        return saved[0]
      }
      func names(_ list: String, _ of: String) async throws -> [String?] {
        let found = try await service.lookup("s", in: "private", zone: "Notes")
        return found[0][list]?.array?.map { $0[of]?["userRecordName"]?.string } ?? []
      }
      // Unknown, closed, open, and asked for a second time.
      #expect(try await ask("unknown") == "ok")
      #expect(try await ask(guid) == "ok")
      #expect(try await names("requesters", "requesterInformation").isEmpty)
      let tag = try await change(open)["recordChangeTag"]?.string
      #expect(try await ask(guid) == "ok")
      #expect(try await ask(guid) == "ok")
      let bob = service.bob.recordName
      #expect(try await names("requesters", "requesterInformation") == [bob])
      let stale = try await service.modify(
        share("update", #""publicPermission": "NONE""#), in: "private")
      #expect(stale.outcomes == ["CONFLICT"] && tag != nil)

      // Denied, blocked, unblocked, and let in.
      _ = try await change(#""requesters": []"#)
      #expect(try await names("requesters", "requesterInformation").isEmpty)
      #expect(try await ask(guid) == "ok")
      _ = try await change(
        #""requesters": [], "blocked": [{"blockedInformation": {"userRecordName": "\#(bob)"}}]"#)
      #expect(try await names("blocked", "blockedInformation") == [bob])
      #expect(try await ask(guid) == "ok")
      #expect(try await names("requesters", "requesterInformation").isEmpty)
      _ = try await change(#""blocked": []"#)
      #expect(try await ask(guid) == "ok")
      let approved = try await change(
        """
        "participants": [{"type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "UNKNOWN",
          "userIdentity": {"userRecordName": "\(bob)"}}]
        """)
      #expect(approved["requesters"]?.array?.isEmpty == true)
      #expect(approved["participants"]?.array?.last?["isApprovedRequester"]?.bool == true)
      #expect(try await ask(guid) == "PARTICIPANT_ALREADY_INVITED")
    }
  }

  @Test("a zone that is shared as a whole names its share")
  func zones() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      func shareName() async throws -> String? {
        let answer = try await service.post(
          "private/zones/lookup", #"{"zones": [{"zoneID": {"zoneName": "Notes"}}]}"#,
          as: service.alice)
        return answer.json["zones"]?.array?.first?["share"]?["recordName"]?.string
      }
      #expect(try await shareName() == nil)
      let saved = try await service.modify(
        share("create", #""publicPermission": "READ_ONLY""#, name: "cloudkit.zoneshare"),
        in: "private")
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      #expect(try await shareName() == "cloudkit.zoneshare")
      _ = try await service.modify(
        Service.operation("forceDelete", "cloudkit.zoneshare", zone: "Notes", type: nil),
        in: "private")
      #expect(try await shareName() == nil)
    }
  }

  /// The answer to `records/accept` for one short GUID.
  private func accept(
    _ guid: String, as user: TestUser, _ service: Service
  ) async throws -> JSONValue {
    let answer = try await service.post(
      "public/records/accept", #"{"shortGUIDs": ["\#(guid)"]}"#, as: user)
    return try #require(answer.json["results"]?.array?.first, "\(answer.json)")
  }

  @Test("a user who is invited accepts once, and the share gets a new change tag")
  func accepting() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let saved = try await service.modify(
        Service.operation("forceUpdate", "root", zone: "Notes"),
        share(
          "create",
          """
          "forRecord": {"recordName": "root"}, "participants": [{"type": "USER",
            "permission": "READ_WRITE", "acceptanceStatus": "INVITED",
            "userIdentity": {"userRecordName": "\(service.bob.recordName)"}}]
          """), in: "private")
      try #require(saved.outcomes == ["ok", "ok"], "\(saved.json)")
      let guid = try #require(saved[1]["shortGUID"]?.string)
      func tag() async throws -> String? {
        try await service.lookup("s", in: "private", zone: "Notes")[0]["recordChangeTag"]?.string
      }
      // The owner has nothing to accept.
      let owners = try await accept(guid, as: service.alice, service)
      #expect(owners["databaseScope"]?.string == "PRIVATE")
      let before = try await tag()
      #expect(before == saved[1]["recordChangeTag"]?.string)

      let accepted = try await accept(guid, as: service.bob, service)
      #expect(accepted["participantStatus"]?.string == "ACCEPTED", "\(accepted)")
      #expect(accepted["databaseScope"]?.string == "SHARED")
      let own = accepted["share"]?["currentUserParticipant"]
      #expect(own?["acceptanceStatus"]?.string == "ACCEPTED")
      let after = try await tag()
      #expect(after != before)
      let again = try await accept(guid, as: service.bob, service)
      #expect(again["participantStatus"]?.string == "ACCEPTED")
      #expect(try await tag() == after)

      // A save with the list from before the acceptance fails, and shows the present list.
      let stale = try await service.modify(
        share(
          "update", #""recordChangeTag": "\#(before ?? "")", "participants": []"#), in: "private")
      #expect(stale.outcomes == ["CONFLICT"])
      let present = stale[0]["serverRecord"]?["participants"]?.array
      #expect(present?.last?["acceptanceStatus"]?.string == "ACCEPTED")
      _ = try await service.modify(share("forceUpdate", #""participants": []"#), in: "private")
      let removed = try await accept(guid, as: service.bob, service)
      let unknown = try await accept("unknown", as: service.bob, service)
      #expect(removed.outcome == "ACCESS_DENIED" && unknown.outcome == "NOT_FOUND")
      #expect(try await resolve(guid, as: service.bob, service).outcome == "NOT_FOUND")
      #expect(unknown["shortGUID"]?["value"]?.string == "unknown")
    }
  }

  @Test("everyone joins a public share, until its public permission ends")
  func joining() async throws {
    try await withService { service in
      try await service.makeZone("Notes")
      let saved = try await service.modify(
        share("create", #""publicPermission": "READ_WRITE""#, name: "cloudkit.zoneshare"),
        in: "private")
      let guid = try #require(saved[0]["shortGUID"]?.string)
      func change(_ members: String) async throws -> JSONValue {
        try await service.modify(
          share("forceUpdate", members, name: "cloudkit.zoneshare"), in: "private")[0]
      }
      let joined = try await accept(guid, as: service.bob, service)
      #expect(joined["participantType"]?.string == "PUBLIC_USER", "\(joined)")
      #expect(joined["participantStatus"]?.string == "ACCEPTED")
      #expect(joined["participantPermission"]?.string == "READ_WRITE")
      // The present public permission counts.
      let listed = try await change(#""publicPermission": "READ_ONLY""#)
      #expect(listed["participants"]?.array?.last?["permission"]?.string == "READ_ONLY")
      #expect(
        try await resolve(guid, as: service.bob, service)["participantPermission"]?.string
          == "READ_ONLY")
      let closed = try await change(#""publicPermission": "NONE""#)
      #expect(closed["participants"]?.array?.count == 1)
      #expect(try await accept(guid, as: service.bob, service).outcome == "ACCESS_DENIED")
    }
  }
}
