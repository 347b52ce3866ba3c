import CloudKitModel
import Foundation
import Synchronization
import Testing
import WebPushSimulation

@testable import DatabaseAPI
@testable import PetrelServer

/// A request for each operation, with which it does something.
extension AccessWorld {
  private static let last = Mutex(0)

  /// - Throws: for an operation that nobody wrote a request for.
  func call(_ scope: String, _ operation: String) async throws -> Call {
    let number = Self.last.withLock { last in
      last += 1
      return last
    }
    let body = try #require(
      try (Self.bodies["\(operation) \(scope)"] ?? Self.bodies[operation])?(number),
      "\(operation) is new: it needs a request here, and rows in docs/reference/access-table.md")
    return Call(scope, operation, body: body)
  }

  private static let bodies: [String: @Sendable (Int) throws -> String] = [
    "records/modify": {
      #"{"operations": [\#(Service.operation("create", "made-\($0)"))]}"#
    },
    "records/lookup": { _ in #"{"records": [{"recordName": "there"}]}"# },
    "records/query": { _ in #"{"query": {"recordType": "Note"}}"# },
    "records/changes": { _ in "{}" },
    "records/resolve": { _ in #"{"shortGUIDs": [{"value": "guid"}]}"# },
    "records/accept": { _ in #"{"shortGUIDs": [{"value": "guid"}]}"# },
    "records/requestAccess": { _ in #"{"shortGUIDs": [{"value": "guid"}]}"# },
    "changes/database": { _ in "{}" },
    "changes/zone": { _ in #"{"zones": [{"zoneID": {"zoneName": "_defaultZone"}}]}"# },
    // Default zones of private databases have no feed.
    "records/changes private": { _ in #"{"zoneID": {"zoneName": "Notes"}}"# },
    "changes/zone private": { _ in #"{"zones": [{"zoneID": {"zoneName": "Notes"}}]}"# },
    "records/changes shared": { _ in #"{"zoneID": {"zoneName": "Notes"}}"# },
    "changes/zone shared": { _ in #"{"zones": [{"zoneID": {"zoneName": "Notes"}}]}"# },
    "zones/changes": { _ in "{}" },
    "zones/list": { _ in "" },
    "zones/lookup": { _ in #"{"zones": [{"zoneName": "_defaultZone"}]}"# },
    "zones/modify": {
      #"{"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": "z\#($0)"}}}]}"#
    },
    "assets/upload": {
      #"{"tokens": [{"recordName": "a\#($0)", "recordType": "Note", "fieldName": "file"}]}"#
    },
    "assets/rereference": { _ in
      #"{"assets": [{"recordName": "there", "fieldName": "file"}]}"#
    },
    "subscriptions/list": { _ in "" },
    "subscriptions/lookup": { _ in #"{"subscriptions": [{"subscriptionID": "there"}]}"# },
    "subscriptions/modify": {
      #"{"operations": [{"operationType": "create", "subscription": {"subscriptionID": "s\#($0)", "#
        + #""subscriptionType": "query", "firesOn": ["create"], "query": {"recordType": "Note"}}}]}"#
    },
    "subscriptions/modify shared": {
      #"{"operations": [{"operationType": "create", "subscription": {"subscriptionID": "s\#($0)", "#
        + #""subscriptionType": "database"}}]}"#
    },
    "tokens/create": { #"{"apnsEnvironment": "development", "clientId": "c\#($0)"}"# },
    "tokens/register": { _ in
      #"{"apnsEnvironment": "development", "apnsToken": "\#(String(repeating: "ab", count: 32))"}"#
    },
    "tokens/unregister": { _ in #"{"clientId": "c"}"# },
    "tokens/badge": { _ in #"{"badge": 1}"# },
    "notifications/changes": { _ in "{}" },
    "notifications/markRead": { _ in
      #"{"notifications": [{"notificationID": "4a3dd3c4-1c64-4c9f-a1f1-0d6f5a2c9f11"}]}"#
    },
    "webPush/key": { _ in "{}" },
    "webPush/register": {
      let browser = try BrowserSubscription(endpoint: "https://push.example.com/\($0)")
      return #"{"subscription": {"endpoint": "\#(browser.endpoint)", "keys": "#
        + #"{"p256dh": "\#(browser.p256dh)", "auth": "\#(browser.auth)"}}}"#
    },
    "webPush/unregister": { _ in #"{"endpoint": "https://push.example.com/none"}"# },
    "webhooks/register": { #"{"url": "https://hooks.example.com/\#($0)"}"# },
    "webhooks/list": { _ in "{}" },
    "webhooks/delete": { _ in #"{"webhookId": "none"}"# },
    "users/caller": { _ in "" },
    "users/current": { _ in "" },
    "users/discover": { _ in "" },
    "users/lookup/email": { _ in #"{"users": [{"emailAddress": "anna@example.com"}]}"# },
    "users/lookup/id": { _ in #"{"users": [{"userRecordName": "_nobody"}]}"# },
    "users/lookup/contacts": { _ in "" },
    "users/permissions": { _ in "" },
    "server/limits": { _ in "" },
  ]

  /// The operations that the server has.
  var operations: [DatabaseAPI.Operation] { service.operations.all }

  /// Operations on a container have one path, the others one for each kind of database.
  static func scopes(of operation: DatabaseAPI.Operation) -> [String] {
    switch operation.place {
    case .container: [""]
    case .database: DatabaseScope.allCases.map(\.pathComponent)
    }
  }
}
