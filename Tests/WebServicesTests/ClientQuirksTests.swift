import CloudKitModel
import Foundation
import Testing
import WebServices

/// What known clients of the protocol send that its reference does not have.
@Suite("Quirks of clients")
struct ClientQuirksTests {
  @Test("OpenCloudKit creates subscriptions by ID alone: the item fails, not the request")
  func openCloudKitCreate() throws {
    let items = try subscriptionOperations(
      #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"s"}}]}"#)
    guard case .failure(let failed) = items[0] else {
      Issue.record("unexpected \(items[0])")
      return
    }
    #expect(failed.name == .subscription(subscriptionID: "s"))
    #expect(failed.error.code == .badRequest)
  }

  @Test("OpenCloudKit's parser finds what it wants in the answer to a deletion")
  func openCloudKitDelete() {
    let answer = SubscriptionsResponse(subscriptions: [.success(.deleted(subscriptionID: "s"))])
    #expect(
      String(decoding: answer.body(context: serverContext), as: UTF8.self)
        == #"{"subscriptions":[{"subscriptionID":"s","deleted":true}]}"#)
  }

  @Test("AgileCloudSDK's empty lists and dictionaries and its misspelt key are let pass")
  func agileCloudSDK() throws {
    let read = try subscription(
      #"""
      {"subscriptionType":"query","subscriptionID":"s","firesOn":["create"],"firesOnce":false,
       "zoneID":{"zoneName":"_defaultZone"},"zoneWide":true,
       "query":{"recordType":"Note","filterBy":[],"sortBy":[]},
       "notificationInfo":{"alertalertActionLocalizationKeyBody":"OPEN"}}
      """#)
    #expect(
      read
        == Subscription(
          subscriptionID: "s",
          kind: .query(
            Query(recordType: "Note"), zoneID: .default, options: .firesOnRecordCreation),
          notificationInfo: NotificationInfo()))
    #expect(
      try subscription(
        #"{"subscriptionType":"zone","subscriptionID":"s","notificationInfo":{}}"#
      ).notificationInfo == NotificationInfo())
  }

  @Test("0 and 1 stand for booleans wherever there is one")
  func numbersForBooleans() throws {
    let read = try subscription(
      #"""
      {"subscriptionType":"query","query":{"recordType":"Note"},"zoneWide":1,"firesOnce":1,
       "notificationInfo":{"shouldBadge":1,"shouldSendContentAvailable":0,
                           "shouldSendMutableContent":1}}
      """#)
    #expect(read.firesOnce)
    #expect(read.notificationInfo?.shouldBadge == true)
    #expect(read.notificationInfo?.shouldSendContentAvailable == false)
    #expect(read.notificationInfo?.shouldSendMutableContent == true)
  }

  @Test("CloudKit JS may leave out the type of a filter's value and the subscription's ID")
  func cloudKitJS() throws {
    let read = try subscription(
      #"""
      {"subscriptionType":"query","zoneWide":true,"firesOn":["create"],
       "query":{"recordType":"Artwork","filterBy":[
         {"fieldName":"artist","comparator":"EQUALS","fieldValue":{"value":{"recordName":"Mei"}}},
         {"fieldName":"year","comparator":"IN","fieldValue":{"value":[1999,2001]}}]}}
      """#)
    guard case .query(let query, nil, _) = read.kind else {
      Issue.record("unexpected \(read)")
      return
    }
    #expect(
      query.filters == [
        Filter(.field("artist"), .equals, .reference(Reference(recordName: "Mei"))),
        Filter(.field("year"), .isIn, .list(of: .int64, [.int64(1999), .int64(2001)])),
      ])
    #expect(!read.subscriptionID.isEmpty)
  }
}
