import CommandInterface
import Foundation
import JSONCoding

/// The owner of shared zones, and the participants. Each user has a web auth token.
struct SharingUsers: Sendable {
  /// A database of a user.
  enum Scope: String {
    case `private`, shared, `public`
  }

  /// A user with the device that sends the requests.
  struct User: Sendable {
    let recordName: String
    let token: String
    let device: String
  }

  let port: Int
  let owner: User
  let participants: [User]

  static func names(participants: Int) -> [String] {
    ["owner"] + (0..<participants).map { "participant\($0)" }
  }

  init(port: Int, tokens: [String]) throws {
    self.port = port
    let connection = try LoadConnection(port: port)
    var users = try tokens.map { token in
      let path = EarthquakeRequests.path("users/caller", token: token, device: "app")
      let answer = try JSONValue(parsing: Data(connection.get(path)))
      guard let recordName = answer["userRecordName"]?.string else {
        throw UsageError("users/caller returned no user: \(answer.text)")
      }
      return User(recordName: recordName, token: token, device: "app")
    }
    owner = users.removeFirst()
    participants = users
  }

  @discardableResult
  static func post(
    _ operation: String, in scope: Scope, as user: User, _ body: String,
    over connection: LoadConnection
  ) throws -> [UInt8] {
    let path = EarthquakeRequests.path(
      operation, scope: scope.rawValue, token: user.token, device: user.device)
    return try connection.post(path, Array(body.utf8))
  }

  func makeZone(_ name: String, over connection: LoadConnection) throws {
    try Self.post(
      "zones/modify", in: .private, as: owner,
      #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"\#(name)"}}}]}"#,
      over: connection)
  }

  /// Shares a zone with some participants, or a root record in it. Returns the short GUID.
  ///
  /// - Parameter root: The operation that saves the root record, and its name; nil for a share of
  ///   the zone.
  func share(
    zone: String, root: (name: String, operation: String)? = nil, with participants: [User],
    over connection: LoadConnection
  ) throws -> String {
    let invited = participants.map {
      #"{"type":"USER","permission":"READ_WRITE","acceptanceStatus":"INVITED","#
        + #""userIdentity":{"userRecordName":"\#($0.recordName)"}}"#
    }
    let name = root == nil ? "cloudkit.zoneshare" : "share"
    let forRecord = root.map { #","forRecord":{"recordName":"\#($0.name)"}"# } ?? ""
    let share =
      #"{"operationType":"create","record":{"recordName":"\#(name)","recordType":"cloudkit.share","#
      + #""fields":{},"participants":[\#(invited.joined(separator: ","))]\#(forRecord)}}"#
    let operations = [share] + (root.map { [$0.operation] } ?? [])
    let answer = try Self.post(
      "records/modify", in: .private, as: owner,
      #"{"zoneID":{"zoneName":"\#(zone)"},"operations":[\#(operations.joined(separator: ","))]}"#,
      over: connection)
    let record = try JSONValue(parsing: Data(answer))["records"]?.array?.first
    guard let guid = record?["shortGUID"]?.string else {
      throw UsageError("the share of zone \(zone) has no shortGUID")
    }
    return guid
  }

  static func accept(_ guids: [String], as user: User, over connection: LoadConnection) throws {
    let items = guids.map { "\"\($0)\"" }.joined(separator: ",")
    try post(
      "records/accept", in: .public, as: user, #"{"shortGUIDs":[\#(items)]}"#, over: connection)
  }

  static func subscribe(
    to scope: Scope, as user: User, over connection: LoadConnection
  ) throws {
    try post(
      "subscriptions/modify", in: scope, as: user,
      #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"all","#
        + #""subscriptionType":"database","#
        + #""notificationInfo":{"shouldSendContentAvailable":true}}}]}"#, over: connection)
  }
}
