import Foundation
import HTTPService
import JSONCoding
import StoreModel
import Synchronization

@testable import DatabaseAPI
@testable import Storage

/// Shares in an ``AttackedService``, and the users who attack them.
///
/// Anna owns shares, in which Ben takes part. Cora takes part in none. Dave attacks nobody: he shares
/// a diary with Ben, who may only read it, and has a record beside it that is not shared.
final class AttackedShares: Sendable {
  /// A user who sends requests.
  enum Caller: String, CaseIterable {
    case anna, ben, cora, dave
    /// A web app in which nobody is signed in.
    case nobody
  }

  /// A text in Dave's data that no other user may ever see: in a record that is not shared, and in the
  /// address of a user who has not accepted. It differs for each service, for libFuzzer learns texts
  /// that the program compares.
  private let hiddenText = UUID().uuidString.lowercased()
  /// Whether an input has contained the text, so that it may be in records of other users.
  private let isHiddenTextKnown = Mutex(false)
  private let service: AttackedService
  private let tokens: [Caller: String]
  /// The placeholders in a body for values that differ in each run.
  private let names: Mutex<[(placeholder: String, text: String)]>
  /// The answer with Dave's records before the attack.
  private let records = Mutex(Data())

  /// Saves the shares.
  init(in service: AttackedService) async throws {
    self.service = service
    var tokens: [Caller: String] = [:]
    var users: [(placeholder: String, text: String)] = []
    for caller in Caller.allCases where caller != .nobody {
      let accounts = service.store.accounts
      // The service has added Anna.
      let known = try await accounts.user(named: caller.rawValue)
      let user: User
      if let known {
        user = known
      } else {
        user = try await accounts.addUser(named: caller.rawValue, at: AttackedService.now)
      }
      tokens[caller] = try await Account.makeToken(
        for: user, in: accounts, at: AttackedService.now)
      users.append(("$\(caller.rawValue)", user.userRecordName))
    }
    self.tokens = tokens
    names = Mutex(users)
    for (caller, operation, body) in Self.beginnings {
      try await begin(caller, operation, body)
    }
    for (placeholder, caller, name, zone) in Self.links {
      let found = try await begin(
        caller, "private/records/lookup",
        #"{"records": [{"recordName": "\#(name)"}], "zoneID": {"zoneName": "\#(zone)"}}"#)
      let guid = found["records"]?.array?.first?["shortGUID"]?.string
      let text = try Self.required(guid, "\(found)")
      names.withLock { $0.append((placeholder, text)) }
    }
    try await begin(.ben, "public/records/accept", #"{"shortGUIDs": ["$list", "$diary"]}"#)
    let found = await recordsOfDave()
    try hold(found.text.contains(hiddenText), "Dave finds the hidden text: \(found.text)")
    records.withLock { $0 = found }
  }

  private static let beginnings: [(Caller, String, String)] = [
    (.anna, "private/zones/modify", zones("Lists", "Whole")),
    (
      .anna, "private/records/modify",
      #"{"zoneID": {"zoneName": "Lists"}, "operations": ["#
        + #"{"operationType": "create", "record": {"recordName": "list", "recordType": "List", "fields": {"title": {"value": "Food"}}}}, "#
        + #"{"operationType": "create", "record": {"recordName": "milk", "recordType": "Item", "parent": {"recordName": "list"}, "fields": {}}}, "#
        + #"{"operationType": "create", "record": {"recordName": "loose", "recordType": "Item", "fields": {}}}, "#
        + #"{"operationType": "create", "record": {"recordName": "s", "recordType": "cloudkit.share", "fields": {}, "forRecord": {"recordName": "list"}, "#
        + #""denyAccessRequests": false, "participants": [{"type": "USER", "permission": "READ_WRITE", "acceptanceStatus": "INVITED", "userIdentity": {"userRecordName": "$ben"}}, "#
        + #"{"type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "INVITED", "userIdentity": {"lookupInfo": {"emailAddress": "erin@example.com"}}}]}}]}"#
    ),
    (
      .anna, "private/records/modify",
      #"{"zoneID": {"zoneName": "Whole"}, "operations": ["#
        + #"{"operationType": "create", "record": {"recordName": "w", "recordType": "List", "fields": {}}}, "#
        + #"{"operationType": "create", "record": {"recordName": "cloudkit.zoneshare", "recordType": "cloudkit.share", "fields": {}, "publicPermission": "READ_ONLY"}}]}"#
    ),
    (.dave, "private/zones/modify", zones("Diary")),
    (
      .dave, "private/records/modify",
      #"{"zoneID": {"zoneName": "Diary"}, "operations": ["#
        + #"{"operationType": "create", "record": {"recordName": "diary", "recordType": "List", "fields": {}}}, "#
        + #"{"operationType": "create", "record": {"recordName": "page", "recordType": "Item", "parent": {"recordName": "diary"}, "fields": {}}}, "#
        + #"{"operationType": "create", "record": {"recordName": "$hidden", "recordType": "Item", "fields": {"title": {"value": "$hidden"}}}}, "#
        + #"{"operationType": "create", "record": {"recordName": "s", "recordType": "cloudkit.share", "fields": {}, "forRecord": {"recordName": "diary"}, "#
        + #""participants": [{"type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "INVITED", "userIdentity": {"userRecordName": "$ben"}}, "#
        + #"{"type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "INVITED", "userIdentity": {"lookupInfo": {"emailAddress": "$hidden@example.com"}}}]}}]}"#
    ),
  ]

  private static let links: [(placeholder: String, Caller, share: String, zone: String)] = [
    ("$list", .anna, "s", "Lists"), ("$whole", .anna, "cloudkit.zoneshare", "Whole"),
    ("$diary", .dave, "s", "Diary"),
  ]

  private static func zones(_ names: String...) -> String {
    let operations = names.map {
      #"{"operationType": "create", "zone": {"zoneID": {"zoneName": "\#($0)"}}}"#
    }
    return #"{"operations": [\#(operations.joined(separator: ", "))]}"#
  }

  /// Sends a request that must succeed with all its items. Returns the answer.
  @discardableResult
  private func begin(_ caller: Caller, _ operation: String, _ body: String) async throws
    -> JSONValue
  {
    let response = await answer(
      caller, operation, body: body.replacingOccurrences(of: "$hidden", with: hiddenText))
    let json = try Self.required(try? JSONValue(parsing: response.bytes), "\(operation) answers")
    let isRefused = response.status != 200 || json.text.contains("serverErrorCode")
    try hold(!isRefused, "\(operation) succeeds: \(json.text)")
    return json
  }

  private static func required<Value>(_ value: Value?, _ promise: String) throws -> Value {
    guard let value else { throw Violation(description: promise) }
    return value
  }

  /// Returns the answer to a request of a user. Placeholders in the body stand for short GUIDs
  /// (`$list`, `$whole`, `$diary`) and user record names (`$anna` to `$dave`).
  func answer(_ caller: Caller, _ operation: String, body: String) async -> HTTPResponse {
    let body = names.withLock { $0 }.reduce(body) {
      $0.replacingOccurrences(of: $1.placeholder, with: $1.text)
    }
    let token =
      tokens[caller].map { "ckWebAuthToken=\(AttackedService.escaped($0))" } ?? "ckAPIToken=$API"
    return await service.answer(
      "POST", "/database/1/\(AttackedService.container)/development/\(operation)?\(token)", [],
      Data(body.utf8))
  }

  /// Throws a violation if the answer to an attacker has Dave's hidden text.
  func check(_ answer: HTTPResponse, to caller: Caller, body: String) throws {
    if body.lowercased().contains(hiddenText) { isHiddenTextKnown.withLock { $0 = true } }
    let text = answer.bytes.text
    try hold(
      !text.contains(hiddenText) || isHiddenTextKnown.withLock { $0 },
      "\(caller) sees nothing that is not shared: \(text)")
  }

  /// Throws a violation if Dave's records have changed.
  func checkRecordsOfDave() async throws {
    let found = await recordsOfDave()
    let records = records.withLock { $0 }
    try hold(
      found == records, "who may only read changes nothing: \(found.text) was \(records.text)")
  }

  private func recordsOfDave() async -> Data {
    await answer(
      .dave, "private/records/lookup",
      body: #"{"zoneID": {"zoneName": "Diary"}, "records": [{"recordName": "diary"}, "#
        + #"{"recordName": "page"}, {"recordName": "\#(hiddenText)"}]}"#
    ).bytes
  }
}

extension HTTPResponse {
  /// The body; empty for a body that is no data.
  var bytes: Data {
    guard case .data(let body) = body else { return Data() }
    return body
  }
}
