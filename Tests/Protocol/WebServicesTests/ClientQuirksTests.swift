import CloudKitModel
import Foundation
import Testing
import WebServices

/// Requests of known clients of the protocol that its reference does not contain.
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

  @Test("A subscription without an ID fails without a name, not under that of its zone")
  func namelessSubscription() throws {
    let items = try subscriptionOperations(
      #"""
      {"operations":[{"operationType":"create",
        "subscription":{"subscriptionID":{},"subscriptionType":"zone","zoneID":"Notes"}}]}
      """#)
    guard case .failure(let failed) = items[0] else {
      Issue.record("unexpected \(items[0])")
      return
    }
    #expect(failed.name == .unknown)
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

  @Test("A zone may be named by a string instead of a dictionary")
  func zoneByName() throws {
    let operation = try recordOperation(
      #"{"operationType":"forceDelete","record":{"recordName":"r","zoneID":"Notes"}}"#)
    #expect(operation.recordID.zoneID == ZoneID(zoneName: "Notes"))
    let lookup = try LookupZonesRequest(
      parsing: Data(#"{"zones":["Notes",{"zoneName":"B"},{"zoneID":"C"}]}"#.utf8),
      context: serverContext)
    #expect(lookup.zoneIDs.map(\.zoneName) == ["Notes", "B", "C"])
  }

  @Test("Records and subscriptions may be looked up by bare names")
  func bareNames() throws {
    let records = try LookupRecordsRequest(
      parsing: Data(#"{"records":["a",{"recordName":"b"}],"zoneID":{"zoneName":"Z"}}"#.utf8),
      context: serverContext)
    #expect(records.recordIDs.map(\.recordName) == ["a", "b"])
    #expect(records.recordIDs.allSatisfy { $0.zoneID.zoneName == "Z" })
    let subscriptions = try LookupSubscriptionsRequest(
      parsing: Data(#"{"subscriptions":["a",{"subscriptionID":"b"}]}"#.utf8),
      context: serverContext)
    #expect(subscriptions.subscriptionIDs == ["a", "b"])
  }

  @Test("The actions of references may be the numbers of their constants")
  func numberedActions() throws {
    for (json, action) in [("0", Reference.Action.none), ("1", .deleteSelf)] {
      #expect(
        try fieldValue(#"{"value":{"recordName":"r","action":\#(json)}}"#)
          == .reference(Reference(recordName: "r", action: action)))
    }
    #expect(
      reason { _ = try fieldValue(#"{"value":{"recordName":"r","action":7}}"#) }?
        .contains("must be a string, not a number") == true)
  }

  @Test("An empty object removes a field, as null does")
  func emptyObject() throws {
    #expect(try fieldValue("{}") == nil)
    #expect(reason { _ = try fieldValue(#"{"valeu":1}"#) }?.contains("'value' is missing") == true)
  }

  @Test("An empty list needs no type")
  func emptyList() throws {
    #expect(try fieldValue(#"{"value":[]}"#) == .list(of: .string, []))
    #expect(try fieldValue(#"{"value":[],"type":"INT64_LIST"}"#) == .list(of: .int64, []))
    // What clients saw an empty list of Apple's service called, and keep with it.
    #expect(try fieldValue(#"{"value":[],"type":"UNKNOWN_LIST"}"#) == .list(of: .string, []))
    for value in ["[1]", #""a""#, "{}"] {
      #expect(
        reason { _ = try fieldValue(#"{"value":\#(value),"type":"UNKNOWN_LIST"}"#) }?
          .contains("must be an empty list") == true)
    }
  }

  @Test("The time of a location may have a fraction; a timestamp may not")
  func fractions() throws {
    let location = try fieldValue(
      #"{"value":{"latitude":1,"longitude":2,"timestamp":1700000000123.75}}"#)
    #expect(
      location
        == .location(
          Location(
            latitude: 1, longitude: 2, timestamp: Timestamp(milliseconds: 1_700_000_000_123))))
    #expect(
      reason { _ = try fieldValue(#"{"value":1700000000123.75,"type":"TIMESTAMP"}"#) }?
        .contains("expected type TIMESTAMP") == true)
  }

  @Test(
    "LIST_NOT_… is read as NOT_LIST_…",
    arguments: [
      ("LIST_NOT_CONTAINS", CloudKitModel.Comparator.notListContains),
      ("LIST_NOT_CONTAINS_ANY", .notListContainsAny),
    ])
  func misplacedNegation(name: String, comparator: CloudKitModel.Comparator) throws {
    let value = comparator == .notListContains ? "1" : "[1]"
    #expect(
      try filter(
        #"{"comparator":"\#(name)","fieldName":"a","fieldValue":{"value":\#(value)}}"#
      ).comparator == comparator)
  }

  @Test("cloudkit_flutter wraps the values of system fields, and writes null for what is not there")
  func cloudKitFlutter() throws {
    #expect(
      try filter(
        #"""
        {"comparator":"EQUALS","systemFieldName":"recordName","distance":null,
         "fieldValue":{"value":{"recordName":"r"},"type":"STRING"}}
        """#) == Filter(.system(.recordName), .equals, .string("r")))
    #expect(
      try filter(
        #"""
        {"comparator":"LESS_THAN","systemFieldName":"createdTimestamp","distance":null,
         "fieldValue":{"value":{"createdTimestamp":5},"type":"TIMESTAMP"}}
        """#)
        == Filter(
          .system(.createdTimestamp), .lessThan, .timestamp(Timestamp(milliseconds: 5))))
    let request = try query(
      #"""
      {"zoneID":{"zoneName":"_defaultZone"},"resultsLimit":null,
       "query":{"recordType":"Note","filterBy":[],
                "sortBy":[{"fieldName":"createdTimestamp","ascending":false}]}}
      """#)
    #expect(
      request.query.sortKeys == [SortKey(.system(.createdTimestamp), ascending: false)])
  }

  @Test(
    "System fields are understood under each of their names",
    arguments: [
      ("___recordID", SystemField.recordName), ("___createTime", .createdTimestamp),
      ("___modTime", .modifiedTimestamp), ("___createdBy", .createdUserRecordName),
      ("___modifiedBy", .modifiedUserRecordName), ("___etag", .recordChangeTag),
      ("recordName", .recordName), ("createdTimestamp", .createdTimestamp),
      ("modifiedTimestamp", .modifiedTimestamp),
      ("createdUserRecordName", .createdUserRecordName),
      ("modifiedUserRecordName", .modifiedUserRecordName),
    ])
  func systemNames(name: String, field: SystemField) throws {
    for key in ["fieldName", "systemFieldName"] {
      let request = try query(
        #"{"query":{"recordType":"Note","sortBy":[{"\#(key)":"\#(name)"}]}}"#)
      #expect(request.query.sortKeys == [SortKey(.system(field))])
    }
  }

  @Test("The place to sort by distance from may be a field's value")
  func relativeLocation() throws {
    let place = #"{"latitude":1.5,"longitude":2}"#
    for json in [place, #"{"value":\#(place),"type":"LOCATION"}"#] {
      let request = try query(
        #"""
        {"query":{"recordType":"Note","sortBy":[{"fieldName":"at","relativeLocation":\#(json)}]}}
        """#)
      #expect(
        request.query.sortKeys.first?.relativeLocation == Location(latitude: 1.5, longitude: 2))
    }
  }

  @Test("A request without a body is one without arguments")
  func noBody() throws {
    #expect(
      try DatabaseChangesRequest<CurrentDatabaseChanges>(parsing: Data(), context: serverContext)
        == DatabaseChangesRequest())
    #expect(
      reason { _ = try QueryRecordsRequest(parsing: Data(), context: serverContext) }
        == "'query' is missing")
  }
}
