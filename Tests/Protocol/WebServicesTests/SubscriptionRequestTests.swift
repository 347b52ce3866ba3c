import CloudKitModel
import Foundation
import Testing
import WebServices

struct SubscriptionRequestTests {
  private static let query = #""query":{"recordType":"Quake"}"#

  @Test(
    "A broken subscription names its place and its rule",
    arguments: [
      ("{}", ": 'subscriptionType' is missing"),
      (
        #"{"subscriptionType":"push"}"#,
        ": subscriptionType 'push' must be query, zone or database"
      ),
      (#"{"subscriptionType":1}"#, ".subscriptionType: must be a string, not a number"),
      (#"{"subscriptionType":"query"}"#, ": 'query' is missing"),
      (#"{"subscriptionType":"query","query":{}}"#, ".query: 'recordType' is missing"),
      (
        #"{"subscriptionType":"query","query":{"recordType":"Q","filterBy":[{"comparator":""}]}}"#,
        ".query.filterBy[0]: unknown comparator ''; known are "
          + Comparator.allCases.map(\.rawValue).joined(separator: ", ")
      ),
      (
        #"{"subscriptionType":"query",\#(query),"firesOn":["create","move"]}"#,
        ": firesOn 'move' must be create, update or delete"
      ),
      (
        #"{"subscriptionType":"query",\#(query),"firesOn":"create"}"#,
        ".firesOn: must be an array, not a string"
      ),
      (
        #"{"subscriptionType":"query",\#(query),"firesOnce":"no"}"#,
        ".firesOnce: must be true or false, not a string"
      ),
      (
        #"{"subscriptionType":"query",\#(query),"notificationInfo":"x"}"#,
        ".notificationInfo: must be an object, not a string"
      ),
      (
        #"{"subscriptionType":"zone","notificationInfo":{"shouldBadge":"x"}}"#,
        ".notificationInfo.shouldBadge: must be true or false, not a string"
      ),
      (
        #"{"subscriptionType":"zone","notificationInfo":{"alertLocalizationArgs":["a",1]}}"#,
        ".notificationInfo.alertLocalizationArgs[1]: must be a string, not a number"
      ),
      (#"{"subscriptionType":"zone","zoneID":7}"#, ".zoneID: must be an object, not a number"),
      (
        #"{"subscriptionType":"zone","subscriptionID":7}"#,
        ".subscriptionID: must be a string, not a number"
      ),
    ])
  func subscriptions(json: String, expected: String) {
    #expect(
      reason { _ = try subscription(json) } == "operations[0].subscription" + expected)
  }

  @Test("One broken operation leaves the others, and its failure bears its name")
  func leniency() throws {
    let items = try subscriptionOperations(
      #"""
      {"operations":[
        {"operationType":"delete","subscription":{"subscriptionID":"a"}},
        {"operationType":"create","subscription":{"subscriptionID":"b"}},
        {"operationType":"delete","subscription":{}},
        {"operationType":"mute","subscription":{"subscriptionID":"d"}},
        {"operationType":"create"},
        {"operationType":"update","subscription":{"subscriptionID":"f","subscriptionType":"zone"}}]}
      """#)
    #expect(try items[0].get() == .delete(subscriptionID: "a"))
    #expect(
      try items[5].get()
        == .save(Subscription(subscriptionID: "f", kind: .database(recordType: nil))))
    let failures = items.compactMap { item -> FailedItem? in
      if case .failure(let failed) = item { return failed }
      return nil
    }
    #expect(
      failures.map(\.name) == [
        .subscription(subscriptionID: "b"), .unknown, .subscription(subscriptionID: "d"), .unknown,
      ])
    #expect(
      failures.map(\.error.reason) == [
        "operations[1].subscription: 'subscriptionType' is missing",
        "operations[2].subscription: 'subscriptionID' is missing",
        "operations[3].operationType: 'mute' must be one of create, update, delete",
        "operations[4]: 'subscription' is missing",
      ])
    #expect(failures.allSatisfy { $0.error.code == .badRequest })
  }

  @Test("400 operations pass, 401 are refused as a whole")
  func limit() throws {
    func body(_ count: Int) -> String {
      let operation = #"{"operationType":"delete","subscription":{"subscriptionID":"s"}}"#
      return #"{"operations":["#
        + Array(repeating: operation, count: count).joined(separator: ",") + "]}"
    }
    #expect(try subscriptionOperations(body(400)).count == 400)
    #expect(
      reason { _ = try subscriptionOperations(body(401)) }
        == "operations: has 401 items; the limit is 400 per request")
  }

  @Test(
    "Type, zone and zoneWide together say what is watched",
    arguments: [
      (
        #""subscriptionType":"zone","zoneID":{"zoneName":"Z"}"#, .recordZone(notes, recordType: nil)
      ),
      (
        #""subscriptionType":"zone","zoneID":{"zoneName":"Z"},"zoneWide":true"#,
        .recordZone(notes, recordType: nil)
      ),
      (
        #""subscriptionType":"zone","zoneID":{"zoneName":"Z"},"recordType":"Note""#,
        .recordZone(notes, recordType: "Note")
      ),
      (#""subscriptionType":"zone","zoneWide":true"#, .database(recordType: nil)),
      (#""subscriptionType":"zone""#, .database(recordType: nil)),
      (#""subscriptionType":"database""#, .database(recordType: nil)),
      (
        #""subscriptionType":"database","zoneID":{"zoneName":"Z"},"recordType":"Note""#,
        .database(recordType: "Note")
      ),
      (
        #""subscriptionType":"query",\#(query),"firesOn":["update"]"#,
        .query(Query(recordType: "Quake"), zoneID: .default, options: .firesOnRecordUpdate)
      ),
      (
        #""subscriptionType":"query",\#(query),"zoneWide":1,"firesOn":["delete"],"firesOnce":1"#,
        .query(
          Query(recordType: "Quake"), zoneID: nil, options: [.firesOnRecordDeletion, .firesOnce])
      ),
      (
        #""subscriptionType":"query",\#(query),"zoneWide":true,"zoneID":{"zoneName":"Z"}"#,
        .query(Query(recordType: "Quake"), zoneID: notes, options: [])
      ),
      (
        #""subscriptionType":"zone","zoneWide":true,"firesOn":["create"],"firesOnce":true"#,
        .database(recordType: nil)
      ),
    ] as [(String, Subscription.Kind)])
  func kinds(members: String, kind: Subscription.Kind) throws {
    let read = try subscription(#"{"subscriptionID":"s",\#(members)}"#)
    #expect(read == Subscription(subscriptionID: "s", kind: kind))
  }

  private static let notes = ZoneID(zoneName: "Z")

  @Test("A subscription without an ID gets one of its own")
  func generatedIDs() throws {
    let first = try subscription(#"{"subscriptionType":"zone"}"#).subscriptionID
    let second = try subscription(#"{"subscriptionType":"zone"}"#).subscriptionID
    #expect(UUID(uuidString: first) != nil && first != second)
  }

  @Test("Desired keys are read under both names, Apple's first")
  func desiredKeys() throws {
    func keys(_ members: String) throws -> [String]? {
      try subscription(#"{"subscriptionType":"zone","notificationInfo":{\#(members)}}"#)
        .notificationInfo?.desiredKeys
    }
    #expect(try keys(#""additionalFields":["a"],"desiredKeys":["b"]"#) == ["a"])
    #expect(try keys(#""desiredKeys":["b"]"#) == ["b"])
    #expect(try keys(#""additionalFields":[]"#) == [])
    #expect(try keys("") == nil)
  }

  @Test("A lookup needs a name for each subscription")
  func lookup() {
    #expect(
      reason {
        _ = try LookupSubscriptionsRequest(
          parsing: Data(#"{"subscriptions":[{"subscriptionID":"a"},{"subscriptionID":1}]}"#.utf8),
          context: serverContext)
      } == "subscriptions[1].subscriptionID: must be a string, not a number")
  }
}
