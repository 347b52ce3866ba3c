import CloudKitModel
import Foundation
import JSONCoding
import StoreModel
import Testing

@testable import DatabaseAPI

/// A zone of Alice with a share, in which a caller has a part.
///
/// The zone has the records `root` and `item`, and `apart`, which no share of a hierarchy covers.
/// Olga is invited by her address and has accepted. Uma is invited too, unless the share is
/// public. Rita has asked for access.
final class SharedPlace {
  let world: ShareWorld
  let kind: ShareKind
  let part: SharePart
  let zoneName: String
  /// The last part of the share's URL.
  private(set) var guid = ""
  /// The path of the file of `item`, as an answer gave it to the caller; nil if none did.
  private(set) var filePath: String?
  /// The answers to the caller, without the names of the place.
  private(set) var answers: [String] = []
  private var last = 0

  var service: Service { world.service }
  var caller: TestUser { part == .owner ? service.alice : world.caller }
  var database: String { part == .owner ? "private" : "shared" }

  /// The zone as the caller names it.
  var zoneID: String {
    let owner = #", "ownerRecordName": "\#(service.alice.recordName)""#
    return #"{"zoneName": "\#(zoneName)"\#(part == .owner ? "" : owner)}"#
  }

  /// Names a place whose zone does not exist before ``make(isFull:)``.
  init(_ world: ShareWorld, _ kind: ShareKind, _ part: SharePart) {
    self.world = world
    self.kind = kind
    self.part = part
    zoneName = world.nextZoneName()
    guid = String(repeating: "g", count: world.guidLength)
  }

  /// A name that nothing in the place has yet.
  func newName() -> String {
    last += 1
    return "new-\(last)"
  }

  // MARK: Making the place

  /// Makes the zone with its share, and gives the caller the part.
  ///
  /// - Parameter isFull: whether `item` has a file, and Rita has asked for access.
  func make(isFull: Bool = true) async throws {
    try await service.makeZone(zoneName)
    let file = isFull ? #""file": {"value": \#(try await uploadedFile())}"# : ""
    let (ofRoot, parent) =
      kind == .hierarchy
      ? (#", "forRecord": {"recordName": "root"}"#, #""parent": {"recordName": "root"}, "#)
      : ("", "")
    let saved = try await asOwner(
      record("create", "root"),
      share(
        "create",
        """
        \(ofRoot), "denyAccessRequests": false, "participants": [
          \(Self.entry(#"{"lookupInfo": {"emailAddress": "\#(ShareWorld.olgasAddress)"}}"#)),
          \(Self.entry(#"{"lookupInfo": {"emailAddress": "\#(ShareWorld.umasAddress)"}}"#))
          \(part.invitation.map { ", " + invitation($0.type, $0.permission) } ?? "")]
        """),
      record("create", "item", parent + #""fields": {\#(file)}"#),
      record("create", "apart"))
    guid = try #require(saved[1]["shortGUID"]?.string)
    world.guidLength = guid.count
    try await accept(as: world.olga)
    if isFull {
      let asked = try await service.post(
        "public/records/requestAccess", #"{"shortGUIDs": ["\#(guid)"]}"#, as: world.rita)
      try #require(asked.json["results"]?.array?.first?.outcome == "ok")
    }
    if let permission = part.publicPermission {
      try await asOwner(share("forceUpdate", #", "publicPermission": "\#(permission)""#))
    }
    if part.hasAccepted { try await accept(as: caller) }
    if isFull {
      filePath = try await post("records/lookup", lookupBody("item"))[0].field("file")
        .map { try service.path($0["downloadURL"]) }
    }
    switch part {
    case .none: try await change(caller.recordName) { $0["permission"] = "NONE" }
    case .removed:
      try await asOwner(share("forceUpdate", try await list(without: caller.recordName)))
    case .blocked:
      let user = #"{"blockedInformation": {"userRecordName": "\#(caller.recordName)"}}"#
      try await asOwner(share("forceUpdate", #", "blocked": [\#(user)]"#))
    case .owner, .administrator, .writer, .reader, .publicWriter, .publicReader, .notJoined,
      .invited, .stranger:
      break
    }
    answers = []
  }

  /// A participant in a request of the owner.
  static func entry(
    _ identity: String, type: String = "USER", permission: String = "READ_ONLY"
  ) -> String {
    #"{"type": "\#(type)", "permission": "\#(permission)", "acceptanceStatus": "INVITED", "#
      + #""userIdentity": \#(identity)}"#
  }

  private func invitation(_ type: String, _ permission: String) -> String {
    Self.entry(
      #"{"userRecordName": "\#(caller.recordName)"}"#, type: type, permission: permission)
  }

  /// Uploads a file for the record `item`, and returns its dictionary.
  private func uploadedFile() async throws -> String {
    let asked = try await service.post(
      "private/assets/upload",
      #"{"zoneID": {"zoneName": "\#(zoneName)"}, "tokens": [{"recordName": "item", "#
        + #""recordType": "Note", "fieldName": "file"}]}"#, as: service.alice)
    let url = try #require(asked.uploadURLs.first, "\(asked.json)")
    let uploaded = try await service.client.send("POST", url, body: ShareWorld.file)
    return try #require(uploaded.json["singleFile"], "\(uploaded.json)").text
  }

  private func accept(as user: TestUser) async throws {
    let answer = try await service.post(
      "public/records/accept", #"{"shortGUIDs": ["\#(guid)"]}"#, as: user)
    try #require(answer.json["results"]?.array?.first?["share"] != nil, "\(answer.json)")
  }

  // MARK: What the owner does

  @discardableResult
  func asOwner(_ operations: String...) async throws -> Answer {
    let saved = try await service.post(
      "private/records/modify",
      #"{"zoneID": {"zoneName": "\#(zoneName)"}, "operations": [\#(operations.joined(separator: ", "))]}"#,
      as: service.alice)
    try #require(saved.outcomes.allSatisfy { ["ok", "deleted"].contains($0) }, "\(saved.json)")
    return saved
  }

  /// The participants as the owner sees them; none where there is no share.
  func participants() async throws -> [JSONValue] {
    let found = try await service.lookup(kind.shareName, in: "private", zone: zoneName)
    return found[0]["participants"]?.array ?? []
  }

  /// Changes the entry of a participant as the owner.
  func change(_ user: String, _ change: (inout [String: JSONValue]) -> Void) async throws {
    try await asOwner(share("forceUpdate", try await list(changing: user, change)))
  }

  private func text(_ participants: [JSONValue]) -> String {
    #", "participants": [\#(participants.map(\.text).joined(separator: ", "))]"#
  }

  /// The list of participants with another entry for one of them, as a member of a request.
  func list(
    changing user: String, _ change: (inout [String: JSONValue]) -> Void
  ) async throws -> String {
    text(
      try await participants().map { participant in
        guard participant["userIdentity"]?["userRecordName"]?.string == user,
          var members = participant.object
        else { return participant }
        change(&members)
        return .object(members)
      })
  }

  /// The list of participants without one of them, as a member of a request.
  func list(without user: String) async throws -> String {
    text(
      try await participants().filter {
        $0["userIdentity"]?["userRecordName"]?.string != user
      })
  }

  /// The list of participants with one more, as a member of a request.
  func list(with entry: String) async throws -> String {
    text(try await participants() + [try JSONValue(parsing: Data(entry.utf8))])
  }

  /// Whether the share is still there.
  func isShared() async throws -> Bool {
    try await service.lookup(kind.shareName, in: "private", zone: zoneName).outcomes == ["ok"]
  }

  // MARK: What the caller asks

  /// Posts to an operation on the caller's database.
  func post(_ operation: String, _ body: String, in database: String? = nil) async throws
    -> Answer
  {
    let answer = try await service.post(
      "\(database ?? self.database)/\(operation)", body, as: caller)
    var text = "\(operation) \(answer.status) \(String(decoding: answer.body, as: UTF8.self))"
    for (word, name) in [(zoneName, "<zone>"), (guid, "<link>")] {
      text = text.replacing(word, with: name)
    }
    answers.append(
      text.replacing(/[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/) { _ in "<uuid>" }
        .replacing(/\b1[6-9]\d{11}\b/) { _ in "<time>" }
        .replacing(/"syncToken":"[^"]*"/) { _ in "<token>" })
    return answer
  }

  func lookupBody(_ name: String) -> String {
    #"{"records": [{"recordName": "\#(name)"}], "zoneID": \#(zoneID)}"#
  }

  /// One operation on a record of type Note.
  func record(_ kind: String, _ name: String, _ members: String = "") -> String {
    #"{"operationType": "\#(kind)", "record": {"recordName": "\#(name)", "recordType": "Note""#
      + "\(members.isEmpty ? "" : ", \(members)")}}"
  }

  /// One operation on the share.
  func share(_ kind: String, _ members: String = "", name: String? = nil) -> String {
    #"{"operationType": "\#(kind)", "record": {"recordName": "\#(name ?? self.kind.shareName)", "#
      + #""recordType": "cloudkit.share"\#(members)}}"#
  }

  /// Sends operations, and returns the outcome of the first that does not fail only because of
  /// another.
  func modify(_ operations: String...) async throws -> String {
    let answer = try await post(
      "records/modify",
      #"{"zoneID": \#(zoneID), "operations": [\#(operations.joined(separator: ", "))]}"#)
    guard answer.status == 200 else { return answer.accessOutcome }
    let code = answer.items.compactMap(\.errorCode).first { $0 != "ATOMIC_ERROR" }
    return code.map { "200 \($0)" } ?? "200"
  }
}

/// A server for the places of one part.
final class ShareWorld {
  static let olgasAddress = "olga@example.com"
  static let umasAddress = "uma@example.com"
  static let file = Data("a picture".utf8)

  let service: Service
  let caller: TestUser
  let olga: TestUser
  let rita: TestUser
  /// The length of the short GUIDs that the server makes.
  var guidLength = 22
  private var zones = 0

  init(_ service: Service) async throws {
    self.service = service
    caller = service.bob
    var invited: [TestUser] = []
    for (name, address) in [("olga", Self.olgasAddress), ("uma", Self.umasAddress)] {
      let user = try await service.store.accounts.addUser(
        named: name,
        profile: UserProfile(emailAddress: address, phoneNumber: nil, nameComponents: nil), at: .now
      )
      invited.append(
        TestUser(
          name: name, recordName: user.userRecordName,
          token: try await Account.makeToken(for: user, in: service.store.accounts, at: .now)))
    }
    olga = invited[0]
    rita = try await Service.addUser("rita", to: service.store)
  }

  fileprivate func nextZoneName() -> String {
    zones += 1
    return "Zone\(zones + 1000)"
  }
}
