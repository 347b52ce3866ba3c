import CloudKitModel
import Foundation
import JSONCoding
import Testing

@testable import PetrelServer

/// Users who have the link of a share, and are invited by it or kept out: Alice shares a list with a
/// picture, and Olga has the link.
struct InvitedUserTests {
  /// A way by which the link shows Olga the share.
  enum Way: String, CaseIterable {
    case userRecordName, emailAddress, publicPermission, singleUse

    /// The members of the save that opens the way.
    func members(for user: TestUser) -> String {
      let identity: String
      switch self {
      case .userRecordName: identity = #"{"userRecordName": "\#(user.recordName)"}"#
      case .emailAddress:
        identity = #"{"lookupInfo": {"emailAddress": "\#(ShareWorld.olgasAddress)"}}"#
      case .publicPermission: return #", "publicPermission": "READ_WRITE""#
      case .singleUse: identity = "{}"
      }
      return #", "participants": [\#(SharedPlace.entry(identity))]"#
    }

    /// The members of the save that closes the way again.
    var closing: String {
      self == .publicPermission ? #", "publicPermission": "NONE""# : #", "participants": []"#
    }
  }

  /// A shared list of Alice.
  private struct SharedList {
    let service: Service
    let zone: String
    /// The last part of the link that Olga has.
    private(set) var guid = ""

    init(_ service: Service, _ zone: String, file: String? = nil) async throws {
      self.service = service
      self.zone = zone
      try await service.makeZone(zone)
      let fields = file.map { #""file": {"value": \#($0)}"# } ?? ""
      let saved = try await service.modify(
        Service.operation("create", "root", fields, zone: zone),
        operation("create", #", "forRecord": {"recordName": "root"}, "denyAccessRequests": false"#),
        in: "private")
      guid = try #require(saved[1]["shortGUID"]?.string, "\(saved.json)")
    }

    func operation(_ kind: String, _ members: String = "") -> String {
      """
      {"operationType": "\(kind)", "record": {"recordName": "s", "recordType": "cloudkit.share",
       "zoneID": {"zoneName": "\(zone)"}\(members)}}
      """
    }

    /// Changes the share as its owner.
    @discardableResult
    mutating func change(_ members: String) async throws -> JSONValue {
      let saved = try await service.modify(operation("forceUpdate", members), in: "private")
      try #require(saved.outcomes == ["ok"], "\(saved.json)")
      let link = saved[0]["oneTimeStableUrlInfo"]?["oneTimeLinks"]?.array?.first?["sharingLink"]?
        .string
      if let single = link?.split(separator: "/").last?.split(separator: "#").first {
        guid = String(single)
      }
      return saved[0]
    }

    func ask(_ operation: String, as user: TestUser) async throws -> JSONValue {
      let answer = try await service.post(
        "public/records/\(operation)",
        operation == "requestAccess"
          ? #"{"shortGUIDs": ["\#(guid)"]}"#
          : #"{"shortGUIDs": [{"value": "\#(guid)", "shouldFetchRootRecord": true}]}"#, as: user)
      return try #require(answer.json["results"]?.array?.first, "\(answer.json)")
    }

    /// The path of the root's file, as the metadata of the share have it.
    func filePath(as user: TestUser) async throws -> String {
      let found = try await ask("resolve", as: user)
      return try service.path(found["rootRecord"]?["fields"]?["file"]?["value"]?["downloadURL"])
    }
  }

  private static let picture = Data("a picture".utf8)

  /// Uploads a file for the root of a list, and returns its dictionary.
  private func uploadedFile(_ service: Service) async throws -> String {
    let asked = try await service.post(
      "private/assets/upload",
      #"{"zoneID": {"zoneName": "_defaultZone"}, "tokens": [{"recordName": "root", "#
        + #""recordType": "Note", "fieldName": "file"}]}"#, as: service.alice)
    let url = try #require(asked.uploadURLs.first, "\(asked.json)")
    let uploaded = try await service.client.send("POST", url, body: Self.picture)
    return try #require(uploaded.json["singleFile"], "\(uploaded.json)").text
  }

  // MARK: Files

  /// An event after which Olga does not see the share any more.
  enum Ending: String, CaseIterable {
    case withdrawal, block, newLink, endOfShare, deletedRoot
  }

  @Test(
    "the URL of a file that an invited user gets is of no use when the invitation ends",
    arguments: Way.allCases)
  func files(_ way: Way) async throws {
    try await withService { service in
      let olga = try await ShareWorld(service).olga
      for ending in Ending.allCases {
        var list = try await SharedList(
          service, "\(ending)", file: try await uploadedFile(service))
        let own = try await list.filePath(as: service.alice)
        try await list.change(way.members(for: olga))
        let path = try await list.filePath(as: olga)
        #expect(!path.contains(list.guid))
        let download = try await service.client.send("GET", path)
        #expect(download.status == 200 && download.body == Self.picture)
        for forged in ["&share=A", "&owner="] {
          let path = path.replacing("&share=", with: forged)
          #expect(try await service.client.send("GET", path).status == 403)
        }
        switch ending {
        case .withdrawal: try await list.change(way.closing)
        case .block:
          // Only a user who takes part or has asked can be blocked.
          _ = try await list.ask("accept", as: olga)
          try await list.change(
            #", "blocked": [{"blockedInformation": {"userRecordName": "\#(olga.recordName)"}}]"#)
        case .newLink:
          try await service.store.shareAdministration.renewLink(
            of: RecordID(recordName: "s", zoneID: ZoneID(zoneName: list.zone)),
            in: service.store.databases.database(
              at: DatabaseAddress(
                container: Service.container, environment: .development, scope: .private,
                owner: service.alice.recordName)), timestamp: .now)
        case .endOfShare:
          _ = try await service.modify(
            Service.operation("forceDelete", "s", zone: list.zone, type: nil), in: "private")
        case .deletedRoot:
          _ = try await service.modify(
            Service.operation("forceDelete", "root", zone: list.zone, type: nil), in: "private")
        }
        // The link for a single use is another one than that of the share, and stays.
        let stays = ending == .newLink && way == .singleUse
        #expect(
          try await service.client.send("GET", path).status == (stays ? 200 : 404),
          "\(way) \(ending)")
        #expect(
          try await service.client.send("GET", own).status == 200, "\(way) \(ending)")
      }
    }
  }

  @Test("the URL of a file stays good when the invited user accepts, until the removal")
  func acceptance() async throws {
    try await withService { service in
      let olga = try await ShareWorld(service).olga
      var list = try await SharedList(
        service, "Notes", file: try await uploadedFile(service))
      try await list.change(Way.emailAddress.members(for: olga))
      let before = try await list.filePath(as: olga)
      #expect(try await list.ask("accept", as: olga).outcome == "ok")
      let after = try await list.filePath(as: olga)
      for path in [before, after] {
        #expect(try await service.client.send("GET", path).status == 200)
      }
      try await list.change(#", "participants": []"#)
      for path in [before, after] {
        #expect(try await service.client.send("GET", path).status == 404)
      }
    }
  }

  // MARK: Blocked users

  @Test(
    "a blocked user looks on every way as if there was no share, and may not accept it",
    arguments: Way.allCases)
  func blocked(_ way: Way) async throws {
    try await withService { service in
      let olga = try await ShareWorld(service).olga
      var list = try await SharedList(service, "Notes")
      try await list.change(Way.userRecordName.members(for: olga))
      #expect(try await list.ask("accept", as: olga).outcome == "ok")
      let user = #"{"blockedInformation": {"userRecordName": "\#(olga.recordName)"}}"#
      try await list.change(#", "blocked": [\#(user)]"#)
      if way == .userRecordName {
        let refused = try await service.modify(
          list.operation("forceUpdate", way.members(for: olga)), in: "private")
        #expect(refused.outcomes == ["BAD_REQUEST"] && refused[0].reason.contains("is blocked"))
      } else {
        try await list.change(way.members(for: olga))
      }
      let unknown = String(repeating: "g", count: list.guid.count)
      for operation in ["resolve", "accept", "requestAccess"] {
        let answer = try await list.ask(operation, as: olga)
        guard operation != "accept" else {
          #expect(answer.outcome == "ACCESS_DENIED")
          continue
        }
        #expect(answer.outcome == (operation == "resolve" ? "NOT_FOUND" : "ok"))
        let other = try await service.post(
          "public/records/\(operation)", #"{"shortGUIDs": ["\#(unknown)"]}"#, as: olga)
        let expected = try #require(other.json["results"]?.array?.first)
        #expect(answer["reason"] == expected["reason"])
      }
      let zones = try await service.post("shared/zones/list", "{}", as: olga)
      #expect(zones.json["zones"]?.array?.isEmpty == true)
      let share = try await list.change("")
      #expect(share["requesters"]?.array?.isEmpty == true)
      #expect(
        share["participants"]?.array?.contains {
          $0["userIdentity"]?["userRecordName"]?.string == olga.recordName
        } == false)
    }
  }
}
