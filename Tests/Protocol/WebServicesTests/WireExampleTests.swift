import CloudKitModel
import Foundation
import Testing
import WebServices

/// The examples of Apple's reference, byte for byte where Petrel writes them.
struct WireExampleTests {
  private let client = MessageContext(ownerNaming: .implied)

  @Test("A note is created")
  func modifyRecords() throws {
    let received = try ModifyRecordsRequest(
      parsing: Data(
        #"""
        { "zoneID": { "zoneName": "Notes" },
          "operations": [ { "operationType": "create",
             "record": { "recordType": "Note", "recordName": "n-1",
                         "fields": { "title": { "value": "Milk", "type": "STRING" } } } } ] }
        """#.utf8), context: serverContext)
    let operation = RecordOperation(
      kind: .create,
      recordID: RecordID(recordName: "n-1", zoneID: ZoneID(zoneName: "Notes")), recordType: "Note",
      fields: ["title": .string("Milk")])
    #expect(try received.operations.map { try $0.get() } == [operation])
    #expect(received.isAtomic && received.desiredKeys == nil)

    let sent = ModifyRecordsRequest(operations: [operation], isAtomic: true).body(context: client)
    #expect(
      String(decoding: sent, as: UTF8.self)
        == #"{"atomic":true,"operations":[{"operationType":"create","record":{"recordName":"n-1","#
        + #""zoneID":{"zoneName":"Notes"},"recordType":"Note","#
        + #""fields":{"title":{"value":"Milk","type":"STRING"}}}}]}"#)
  }

  @Test("A note is answered")
  func recordsAnswer() throws {
    let stamp = Record.Stamp(
      timestamp: Timestamp(milliseconds: 1_700_000_000_000), userRecordName: "_ab12", deviceID: "2")
    let record = Record(
      recordID: RecordID(recordName: "n-1", zoneID: ZoneID(zoneName: "Notes")), recordType: "Note",
      recordChangeTag: "e", created: stamp, modified: stamp, fields: ["title": .string("Milk")])
    let apple = #"""
      { "records": [ { "recordName": "n-1", "recordType": "Note", "recordChangeTag": "e",
           "fields": { "title": { "value": "Milk", "type": "STRING" } },
           "zoneID": { "zoneName": "Notes", "ownerRecordName": "_ab12",
                       "zoneType": "REGULAR_CUSTOM_ZONE" }, "pluginFields": {},
           "created":  { "timestamp": 1700000000000, "userRecordName": "_ab12", "deviceID": "2" },
           "modified": { "timestamp": 1700000000000, "userRecordName": "_ab12", "deviceID": "2" },
           "deleted": false } ] }
      """#
    let read = try RecordsResponse(parsing: Data(apple.utf8), context: client)
    #expect(read.records == [.success(.record(record))])

    let body = RecordsResponse(records: [
      .success(.record(record)), .success(.deleted(RecordID(recordName: "n-2"))),
    ]).body(context: serverContext)
    let stampText = #"{"timestamp":1700000000000,"userRecordName":"_ab12","deviceID":"2"}"#
    #expect(
      String(decoding: body, as: UTF8.self)
        == #"{"records":[{"recordName":"n-1","recordType":"Note","#
        + #""zoneID":{"zoneName":"Notes","ownerRecordName":"_me"},"recordChangeTag":"e","#
        + #""fields":{"title":{"value":"Milk","type":"STRING"}},"created":\#(stampText),"#
        + #""modified":\#(stampText),"deleted":false},"#
        + #"{"recordName":"n-2","zoneID":{"zoneName":"_defaultZone","ownerRecordName":"_me"},"#
        + #""deleted":true}]}"#)
  }

  @Test("Artwork is subscribed to")
  func modifySubscriptions() throws {
    let received = try ModifySubscriptionsRequest(
      parsing: Data(
        #"""
        { "operations": [ { "operationType": "create", "subscription": {
            "subscriptionType": "query", "subscriptionID": "new-art",
            "query": { "recordType": "Artwork",
                       "filterBy": [ { "fieldName": "artist", "comparator": "EQUALS",
                         "fieldValue": { "value": { "recordName": "Mei Chen", "action": "NONE" },
                                         "type": "REFERENCE" } } ] },
            "zoneWide": true, "firesOn": ["create", "update"], "firesOnce": false,
            "notificationInfo": { "alertBody": "New artwork", "shouldBadge": true,
                                  "additionalFields": ["title"] } } } ] }
        """#.utf8), context: serverContext)
    var info = NotificationInfo()
    info.alertBody = "New artwork"
    info.shouldBadge = true
    info.desiredKeys = ["title"]
    let subscription = Subscription(
      subscriptionID: "new-art",
      kind: .query(
        Query(
          recordType: "Artwork",
          filters: [
            Filter(.field("artist"), .equals, .reference(Reference(recordName: "Mei Chen")))
          ]), zoneID: nil, options: [.firesOnRecordCreation, .firesOnRecordUpdate]),
      notificationInfo: info)
    #expect(try received.operations.map { try $0.get() } == [.save(subscription)])

    let dictionary =
      #"{"subscriptionID":"new-art","subscriptionType":"query","query":{"recordType":"Artwork","#
      + #""filterBy":[{"comparator":"EQUALS","fieldName":"artist","#
      + #""fieldValue":{"value":{"recordName":"Mei Chen","action":"NONE"},"type":"REFERENCE"}}]},"#
      + #""zoneWide":true,"firesOn":["create","update"],"firesOnce":false,"#
      + #""notificationInfo":{"alertBody":"New artwork","additionalFields":["title"],"#
      + #""shouldBadge":true,"shouldSendContentAvailable":false,"shouldSendMutableContent":false}}"#
    let sent = ModifySubscriptionsRequest(operations: [
      .save(subscription), .delete(subscriptionID: "old-art"),
    ]).body(context: client)
    #expect(
      String(decoding: sent, as: UTF8.self)
        == #"{"operations":[{"operationType":"create","subscription":\#(dictionary)},"#
        + #"{"operationType":"delete","subscription":{"subscriptionID":"old-art"}}]}"#)
    let answer = SubscriptionsResponse(subscriptions: [
      .success(.subscription(subscription))
    ]).body(context: serverContext)
    #expect(String(decoding: answer, as: UTF8.self) == #"{"subscriptions":[\#(dictionary)]}"#)
  }
}
