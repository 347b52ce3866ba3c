import CloudKitModel
import JSONCoding

/// A row of the table of shares in docs/reference/access-table.md: a call, and how its answer is read.
struct ShareCall: Sendable {
  /// The call, as the page names it.
  let name: String
  /// The kinds of share for which the row stands.
  var kinds = ShareKind.allCases
  /// The action that the access policy decides about; nil where the rules of shares decide.
  var action: ParticipantAction?
  /// The word of the page for a refusal of the action.
  var refusal = "no"
  /// Whether the call changes the share, so that a later call would find another one.
  var changesShare = false
  /// Whether the call shows that there is a share to everyone who has the link.
  var isForLinkOnly = false
  /// Sends the call. Returns the outcome.
  let send: @Sendable (SharedPlace) async throws -> String

  /// The words at the head of the row.
  var share: String { kinds.count > 1 ? "each" : kinds[0].rawValue }

  static let all = reading + feeds + writing + sharing + subscriptions + files + links + people

  // MARK: Records

  private static func lookup(_ names: String...) -> @Sendable (SharedPlace) async throws -> String {
    { place in
      var outcomes: Set<String> = []
      for name in names {
        let answer = try await place.post("records/lookup", place.lookupBody(name))
        outcomes.insert(answer.accessOutcome)
      }
      return outcomes.sorted().joined(separator: ", ")
    }
  }

  /// Asks for records of the zone, and looks for one among them.
  private static func list(
    _ operation: String, has name: String, _ body: @escaping @Sendable (SharedPlace) -> String
  ) -> @Sendable (SharedPlace) async throws -> String {
    { place in
      let answer = try await place.post(operation, body(place))
      guard answer.accessOutcome == "200" else { return answer.accessOutcome }
      return answer.json.text.contains("\"\(name)\"") ? "200" : "hidden"
    }
  }

  private static func query(_ name: String) -> @Sendable (SharedPlace) async throws -> String {
    list("records/query", has: name) {
      #"{"query": {"recordType": "Note"}, "zoneID": \#($0.zoneID)}"#
    }
  }

  private static func zoneFeed(_ name: String) -> @Sendable (SharedPlace) async throws -> String {
    list("changes/zone", has: name) { #"{"zones": [{"zoneID": \#($0.zoneID)}]}"# }
  }

  private static func recordFeed(_ name: String) -> @Sendable (SharedPlace) async throws -> String {
    list("records/changes", has: name) { #"{"zoneID": \#($0.zoneID)}"# }
  }

  private static let reading = [
    ShareCall(
      name: "`records/lookup`: a shared record", action: .read, send: lookup("item", "root")),
    ShareCall(name: "`records/lookup`: the share", action: .read) {
      try await lookup($0.kind.shareName)($0)
    },
    ShareCall(
      name: "`records/lookup`: a record outside", kinds: [.hierarchy], send: lookup("apart")),
    ShareCall(name: "`records/query`: shared records", action: .read, send: query("item")),
    ShareCall(
      name: "`records/query`: records outside", kinds: [.hierarchy], send: query("apart")),
  ]

  // MARK: Feeds and zones

  /// Looks for the zone in all pages of an answer: there, deleted or hidden.
  private static func zones(
    _ operations: String...
  ) -> @Sendable (SharedPlace) async throws -> String {
    { place in
      var outcomes: Set<String> = []
      for operation in operations {
        let answer = try await place.post(operation, "{}")
        let zone = answer.items.first { $0["zoneID"]?["zoneName"]?.string == place.zoneName }
        let isGone = zone?["deleted"] == .bool(true)
        outcomes.insert(
          answer.accessOutcome == "200"
            ? zone.map { _ in isGone ? "deleted" : "200" } ?? "hidden" : answer.accessOutcome)
      }
      return outcomes.sorted().joined(separator: ", ")
    }
  }

  private static let feeds = [
    ShareCall(name: "`changes/zone`: shared records", action: .read, send: zoneFeed("item")),
    ShareCall(
      name: "`changes/zone`: records outside", kinds: [.hierarchy], send: zoneFeed("apart")),
    ShareCall(name: "`records/changes`: shared records", action: .read, send: recordFeed("item")),
    ShareCall(
      name: "`records/changes`: records outside", kinds: [.hierarchy], send: recordFeed("apart")),
    ShareCall(
      name: "`changes/database`, `zones/changes`: the zone", action: .read,
      send: zones("changes/database", "zones/changes")),
    ShareCall(name: "`zones/list`: the zone", action: .read, send: zones("zones/list")),
    ShareCall(name: "`zones/lookup`: the zone", action: .read) { place in
      try await place.post("zones/lookup", #"{"zones": [\#(place.zoneID)]}"#).accessOutcome
    },
  ]

  // MARK: Saving records

  /// The place of a new record in the share, with a comma after it.
  private static func inside(_ place: SharedPlace) -> String {
    place.kind == .hierarchy ? #""parent": {"recordName": "root"}, "# : ""
  }

  /// The member of a record that is deleted with `item`.
  private static let withItem =
    #""fields": {"with": {"value": {"recordName": "item", "action": "DELETE_SELF"}}}"#

  private static let writing = [
    ShareCall(name: "create a record in the share", action: .write) { place in
      try await place.modify(
        place.record("create", place.newName(), inside(place) + #""fields": {}"#))
    },
    ShareCall(name: "change a record", action: .write) { place in
      try await place.modify(
        place.record("forceUpdate", "item", #""fields": {"title": {"value": "Milk"}}"#))
    },
    ShareCall(name: "change the root", kinds: [.hierarchy], action: .write) { place in
      try await place.modify(
        place.record("forceUpdate", "root", #""fields": {"title": {"value": "List"}}"#))
    },
    ShareCall(name: "delete a record", action: .write, changesShare: true) { place in
      try await place.modify(place.record("forceDelete", "item"))
    },
    ShareCall(
      name: "create a record without a parent", kinds: [.hierarchy], action: .writeOutside
    ) { place in
      try await place.modify(place.record("create", place.newName()))
    },
    ShareCall(name: "create a record with a parent outside", kinds: [.hierarchy]) { place in
      try await place.modify(
        place.record("create", place.newName(), #""parent": {"recordName": "apart"}"#))
    },
    ShareCall(
      name: "move a record out of the share", kinds: [.hierarchy], action: .writeOutside,
      changesShare: true
    ) { place in
      try await place.modify(place.record("forceUpdate", "item", #""parent": null"#))
    },
    ShareCall(
      name: "let the root be deleted with another record", kinds: [.hierarchy],
      action: .deleteRoot, changesShare: true
    ) { place in
      try await place.modify(place.record("forceUpdate", "root", withItem))
    },
    ShareCall(
      name: "delete the root", kinds: [.hierarchy], action: .deleteRoot, changesShare: true
    ) { place in
      if try await place.isShared() { try await place.asOwner(place.record("forceDelete", "item")) }
      return try await place.modify(place.record("forceDelete", "root"))
    },
  ]

  // MARK: The share

  private static func change(
    _ members: @escaping @Sendable (SharedPlace) async throws -> String
  ) -> @Sendable (SharedPlace) async throws -> String {
    { place in try await place.modify(place.share("forceUpdate", try await members(place))) }
  }

  /// Changes the part of Olga, who is an administrator.
  private static func changeOfAdministrator(
    _ name: String, _ members: @escaping @Sendable (SharedPlace, String) async throws -> String
  ) -> ShareCall {
    ShareCall(
      name: "change the share: \(name)", action: .changeAdministrators, changesShare: true
    ) { place in
      let olga = place.world.olga.recordName
      if try await place.isShared() {
        try await place.change(olga) { $0["type"] = "ADMINISTRATOR" }
      }
      return try await change { try await members($0, olga) }(place)
    }
  }

  /// Ends the share or leaves it, and looks for it afterwards.
  private static func end(
    _ call: @escaping @Sendable (SharedPlace) async throws -> String
  ) -> @Sendable (SharedPlace) async throws -> String {
    { place in
      let outcome = try await call(place)
      guard outcome == "200" else { return outcome }
      return try await place.isShared() ? "left" : "ended"
    }
  }

  private static let sharing = [
    ShareCall(
      name: "change the share: its fields", action: .changeShare,
      send: change { _ in #", "fields": {"cloudkit.title": {"value": "Our list"}}"# }),
    ShareCall(
      name: "change the share: add a participant", action: .changeShare, changesShare: true,
      send: change { place in
        try await place.list(
          with: SharedPlace.entry(#"{"lookupInfo": {"emailAddress": "eva@example.com"}}"#))
      }),
    ShareCall(
      name: "change the share: remove a participant", action: .changeShare, changesShare: true,
      send: change { try await $0.list(without: $0.world.olga.recordName) }),
    ShareCall(
      name: "change the share: a participant's permission", action: .changeShare,
      changesShare: true,
      send: change { place in
        try await place.list(changing: place.world.olga.recordName) {
          $0["permission"] = "READ_WRITE"
        }
      }),
    ShareCall(
      name: "change the share: make an administrator", action: .changeAdministrators,
      changesShare: true,
      send: change { place in
        try await place.list(changing: place.world.olga.recordName) {
          $0["type"] = "ADMINISTRATOR"
        }
      }),
    changeOfAdministrator("unmake an administrator") { place, olga in
      try await place.list(changing: olga) { $0["type"] = "USER" }
    },
    changeOfAdministrator("an administrator's permission") { place, olga in
      try await place.list(changing: olga) { $0["permission"] = "NONE" }
    },
    changeOfAdministrator("remove an administrator") { place, olga in
      try await place.list(without: olga)
    },
    changeOfAdministrator("block an administrator") { _, olga in
      #", "blocked": [{"blockedInformation": {"userRecordName": "\#(olga)"}}]"#
    },
    ShareCall(
      name: "change the share: its public permission, which removes an invited administrator",
      action: .changeAdministrators, changesShare: true
    ) { place in
      if place.part.publicPermission == nil, try await place.isShared() {
        let entry = SharedPlace.entry(
          #"{"lookupInfo": {"emailAddress": "eva@example.com"}}"#, type: "ADMINISTRATOR")
        try await place.asOwner(place.share("forceUpdate", try await place.list(with: entry)))
      }
      return try await change { _ in #", "publicPermission": "READ_ONLY""# }(place)
    },
    ShareCall(
      name: "change the share: its public permission", action: .changeShare, changesShare: true,
      send: change { place in
        #", "publicPermission": "\#(place.part.publicPermission == nil ? "READ_ONLY" : "NONE")""#
      }),
    ShareCall(
      name: "change the share: requests for access", action: .changeShare, changesShare: true,
      send: change { _ in #", "denyAccessRequests": true, "requesters": []"# }),
    ShareCall(
      name: "let the share be deleted with another record", action: .endShare, changesShare: true,
      send: change { _ in ", \(withItem)" }),
    ShareCall(
      name: "delete the share", action: .leave, changesShare: true,
      send: end { place in
        try await place.modify(place.share("forceDelete"))
      }),
    ShareCall(
      name: "`zones/modify`: delete the zone", action: .leave, changesShare: true,
      send: end { place in
        try await place.post(
          "zones/modify",
          #"{"operations": [{"operationType": "delete", "zone": {"zoneID": \#(place.zoneID)}}]}"#
        ).accessOutcome
      }),
    ShareCall(name: "`zones/modify`: create a zone") { place in
      try await place.post(
        "zones/modify",
        #"{"operations": [{"operationType": "create", "zone": {"zoneID": "#
          + #"{"zoneName": "\#(place.zoneName)-\#(place.newName())"}}}]}"#
      ).accessOutcome
    },
    ShareCall(
      name: "share another record", kinds: [.hierarchy], action: .createShare, changesShare: true
    ) { place in
      try await place.modify(
        place.share("create", #", "forRecord": {"recordName": "other"}"#, name: "other-share"),
        place.record("create", "other"))
    },
  ]

  // MARK: Subscriptions

  private static func subscribe(
    _ members: @escaping @Sendable (SharedPlace) -> String
  ) -> @Sendable (SharedPlace) async throws -> String {
    { place in
      try await place.post(
        "subscriptions/modify",
        #"{"operations": [{"operationType": "create", "subscription": {"subscriptionID": "#
          + #""\#(place.kind.rawValue)-\#(place.newName())", \#(members(place))}}]}"#
      ).accessOutcome
    }
  }

  private static let subscriptions = [
    ShareCall(
      name: "save a database subscription",
      send: subscribe { _ in #""subscriptionType": "database""# }),
    ShareCall(
      name: "save a zone subscription",
      send: subscribe { #""subscriptionType": "zone", "zoneID": \#($0.zoneID)"# }),
    ShareCall(
      name: "save a query subscription",
      send: subscribe { place in
        #""subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": "Note"}, "#
          + #""zoneID": \#(place.zoneID)"#
      }),
  ]

  // MARK: Files

  private static let files = [
    ShareCall(name: "`assets/upload`", action: .write, refusal: "denied") { place in
      try await place.post(
        "assets/upload",
        #"{"zoneID": \#(place.zoneID), "tokens": [{"recordName": "item", "recordType": "Note", "#
          + #""fieldName": "file"}]}"#
      ).accessOutcome
    },
    ShareCall(name: "`assets/rereference`", action: .read) { place in
      try await place.post(
        "assets/rereference",
        #"{"zoneID": \#(place.zoneID), "assets": [{"recordName": "item", "fieldName": "file"}]}"#
      ).accessOutcome
    },
    ShareCall(name: "download a file by the caller's own URL", action: .read) { place in
      guard let path = place.filePath else { return "–" }
      return try await place.service.client.send("GET", path).accessOutcome
    },
  ]

  // MARK: Links

  private static func link(_ operation: String) -> @Sendable (SharedPlace) async throws -> String {
    { place in
      try await place.post(operation, #"{"shortGUIDs": ["\#(place.guid)"]}"#, in: "public")
        .accessOutcome
    }
  }

  private static let links = [
    ShareCall(name: "`records/resolve`", send: link("records/resolve")),
    ShareCall(
      name: "`records/accept`", changesShare: true, isForLinkOnly: true,
      send: link("records/accept")),
    ShareCall(
      name: "`records/requestAccess`", changesShare: true, send: link("records/requestAccess")),
    linkWithUnknownAddress("records/resolve"), linkWithUnknownAddress("records/accept"),
  ]

  /// The link of a share that invites an address which no account has.
  private static func linkWithUnknownAddress(_ operation: String) -> ShareCall {
    ShareCall(
      name: "`\(operation)`: an address without account is invited",
      changesShare: true, isForLinkOnly: true
    ) { place in
      if place.part.publicPermission == nil, try await place.isShared() {
        let entry = SharedPlace.entry(
          #"{"lookupInfo": {"emailAddress": "nobody@example.com"}}"#)
        try await place.asOwner(place.share("forceUpdate", try await place.list(with: entry)))
      }
      return try await link(operation)(place)
    }
  }

  // MARK: Participants

  /// Looks up the share, and looks for something in it.
  private static func look(
    _ isSeen: @escaping @Sendable (JSONValue, SharedPlace) -> Bool
  ) -> @Sendable (SharedPlace) async throws -> String {
    { place in
      let answer = try await place.post("records/lookup", place.lookupBody(place.kind.shareName))
      guard answer.accessOutcome == "200" else { return answer.accessOutcome }
      return isSeen(answer[0], place) ? "200" : "hidden"
    }
  }

  private static let people = [
    ShareCall(
      name: "see who owns the share", action: .read,
      send: look { share, place in
        share["owner"]?["userIdentity"]?["userRecordName"]?.string
          == place.service.alice.recordName
      }),
    ShareCall(
      name: "see who has accepted", action: .seeParticipants, refusal: "hidden",
      send: look { share, place in
        share["participants"]?.array?.contains {
          $0["userIdentity"]?["userRecordName"]?.string == place.world.olga.recordName
        } ?? false
      }),
    ShareCall(
      name: "see addresses of others", action: .seeInvitations, refusal: "hidden",
      send: look { share, _ in share.text.contains(ShareWorld.olgasAddress) }),
    ShareCall(
      name: "see requests for access", action: .seeInvitations, refusal: "hidden",
      send: look { share, place in share.text.contains(place.world.rita.recordName) }),
  ]
}
