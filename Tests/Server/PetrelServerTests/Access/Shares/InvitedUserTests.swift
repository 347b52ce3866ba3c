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
  }

  @Test("a blocked user is answered on every way as if there was no share", arguments: Way.allCases)
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
        #expect(
          answer.outcome == (operation == "requestAccess" ? "ok" : "NOT_FOUND"), "\(operation)")
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
