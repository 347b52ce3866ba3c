import CloudKitModel
import Explanation
import Foundation
import JSONCoding
import StoreModel
import Testing
import Waiting

@testable import PetrelServer

/// The operations and queries of tests of explanations.
extension Service {
  /// Saves a query subscription of Alice's to the public database.
  func watch(
    id: String = "notes", type: String = "Note", firesOn: [String] = ["create", "update"],
    filters: String = "", info: String = #""alertBody": "New note""#
  ) async throws {
    let events = firesOn.map { "\"\($0)\"" }.joined(separator: ", ")
    let answer = try await subscribe(
      """
      {"subscriptionID": "\(id)", "subscriptionType": "query", "firesOn": [\(events)],
       "zoneWide": true, "query": {"recordType": "\(type)", "filterBy": [\(filters)]},
       "notificationInfo": {\(info)}}
      """)
    try #require(answer["serverErrorCode"] == nil, "\(answer)")
  }

  func saveNote(_ name: String, _ more: String = "", device: String = "phone") async throws {
    let answer = try await modify(
      Self.operation("create", name, #""title": {"value": "Milk"}"# + more), device: device)
    try #require(answer.outcomes == ["ok"], "\(answer.json)")
  }

  func updateNote(_ name: String, _ title: String) async throws {
    let answer = try await modify(
      Self.operation("forceUpdate", name, #""title": {"value": "\#(title)"}"#), device: "phone")
    try #require(answer.outcomes == ["ok"], "\(answer.json)")
  }

  func publicDatabase() async throws -> DatabaseID {
    try await store.databases.database(
      at: DatabaseAddress(
        container: Self.container, environment: .development, scope: .public, owner: nil))
  }

  /// Alice's.
  func privateDatabase() async throws -> DatabaseID {
    try await store.databases.database(
      at: DatabaseAddress(
        container: Self.container, environment: .development, scope: .private,
        owner: alice.recordName))
  }

  /// The explanation of a record's latest change, once `isDone` holds.
  func explain(
    _ recordName: String, until isDone: (ChangeExplanation) -> Bool
  ) async throws -> ChangeExplanation {
    var latest: ChangeExplanation?
    let database = try await publicDatabase()
    do {
      try await eventually("the change of \(recordName) is as it should be") {
        latest = try await Explainer(store: store).explain(
          RecordID(recordName: recordName), in: database
        ).changes.first
        return latest.map { $0.dispatched != nil && isDone($0) } == true
      }
    } catch let impatience as Impatience {
      let found = latest.map { "\($0)" } ?? "no change"
      throw Impatience(description: "\(impatience); it is: \(found)")
    }
    return try #require(latest)
  }

  /// Why Alice's subscription did not fire on the latest change of a record.
  func reasons(
    against subscriptionID: String, for recordName: String
  ) async throws -> [SilenceReason] {
    try await reasons(
      against: subscriptionID, for: RecordID(recordName: recordName), in: publicDatabase())
  }

  func reasons(
    against subscriptionID: String, for recordID: RecordID, in database: DatabaseID
  ) async throws -> [SilenceReason] {
    var change: ChangeExplanation?
    try await eventually("the change is dispatched") {
      change = try await Explainer(store: store).explain(
        recordID, in: database,
        about: .init(subscriber: alice.recordName, subscriptionID: subscriptionID)
      ).changes.first
      return change?.dispatched != nil
    }
    #expect(change?.silent.count == 1)
    return change?.silent.first?.reasons ?? []
  }
}
