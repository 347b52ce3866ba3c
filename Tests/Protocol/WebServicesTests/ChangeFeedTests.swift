import CloudKitModel
import Foundation
import PropertyTesting
import Testing
import WebServices

struct ChangeFeedTests {
  private let client = MessageContext(ownerNaming: .implied)
  private let explicit = MessageContext(ownerNaming: .explicit)
  private let notes = ZoneID(zoneName: "Notes")

  // MARK: Round trips

  @Test("What is asked of zones is read as it was written", arguments: Seeds.some(40))
  func zoneRequests(seed: Int) throws {
    var random = RandomModel(seed: seed)
    let zones = (0..<5).map { _ in random.recordChangesRequest() }
    let request = ZoneChangesRequest(zones: zones)
    let read = try ZoneChangesRequest(parsing: request.body(context: explicit), context: explicit)
    #expect(try read.zones.map { try $0.get() } == zones)
    let one = try RecordChangesRequest(
      parsing: zones[0].body(context: explicit), context: explicit)
    #expect(one == zones[0])
  }

  @Test("Answers about zones are read as they were written", arguments: Seeds.some(40))
  func zoneAnswers(seed: Int) throws {
    var random = RandomModel(seed: seed)
    let pages = (0..<4).map { _ in random.recordChangesResponse() }
    let failed = FailedItem(.zone(random.zoneID()), random.serviceError())
    let written = pages.map { page in
      var page = page
      page.detail.numbersAsStrings = random.bool()
      return page
    }
    let body = ZoneChangesResponse(zones: written.map { .success($0) } + [.failure(failed)])
      .body(context: explicit)
    let zones = try ZoneChangesResponse(parsing: body, context: explicit).zones
    #expect(zones == pages.map { .success($0) } + [.failure(failed)])
    let one = pages[0].body(context: explicit)
    #expect(try RecordChangesResponse(parsing: one, context: explicit) == pages[0])
  }

  @Test(
    "Questions and answers about databases are read as they were written, by both operations",
    arguments: Seeds.some(20))
  func databases(seed: Int) throws {
    try databases(CurrentDatabaseChanges.self, seed: seed)
    try databases(SupersededDatabaseChanges.self, seed: seed)
  }

  private func databases<Naming: DatabaseChangesNaming>(
    _ naming: Naming.Type, seed: Int
  ) throws {
    var random = RandomModel(seed: seed)
    let request = DatabaseChangesRequest<Naming>(
      syncToken: random.maybe { $0.text() }, resultsLimit: random.generator.pick([0, 7]))
    #expect(
      try DatabaseChangesRequest<Naming>(parsing: request.body, context: explicit) == request)
    let response = DatabaseChangesResponse<Naming>(
      zones: [
        .success(.changed(random.zoneID())), .success(.deleted(random.zoneID())),
        .success(.purged(random.zoneID())),
        .failure(FailedItem(.zone(random.zoneID()), random.serviceError())),
      ], syncToken: random.text(), moreComing: random.bool())
    let read = try DatabaseChangesResponse<Naming>(
      parsing: response.body(context: explicit), context: explicit)
    #expect(read.zones == response.zones)
    #expect(read.syncToken == response.syncToken && read.moreComing == response.moreComing)
  }

  // MARK: Examples

  @Test("A zone's changes are asked for and answered")
  func zoneExample() throws {
    let request = ZoneChangesRequest(zones: [RecordChangesRequest(zoneID: notes, syncToken: "T")])
    #expect(
      String(decoding: request.body(context: client), as: UTF8.self)
        == #"{"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"T"}]}"#)
    let record = Record(
      recordID: RecordID(recordName: "n-1", zoneID: notes), recordType: "Note",
      recordChangeTag: "e", fields: ["title": .string("Milk"), "count": .int64(1)])
    var page = RecordChangesResponse(
      zoneID: notes,
      changes: [
        .saved(record), .deleted(RecordID(recordName: "n-2", zoneID: notes), recordType: "Note"),
      ], syncToken: "U", moreComing: false, clientChangeTokenData: Data([1, 2, 3]))
    page.detail.desiredKeys = ["title"]
    let response = ZoneChangesResponse(zones: [
      .success(page),
      .failure(
        FailedItem(
          .zone(ZoneID(zoneName: "Old")),
          ServiceError(.changeTokenExpired, "too old", uuid: "u"))),
    ])
    let own = #"{"zoneName":"Notes","ownerRecordName":"_me"}"#
    #expect(
      String(decoding: response.body(context: serverContext), as: UTF8.self)
        == #"{"zones":[{"zoneID":{"zoneName":"Notes","ownerRecordName":"_me","#
        + #""zoneType":"REGULAR_CUSTOM_ZONE"},"records":[{"recordName":"n-1","#
        + #""recordType":"Note","zoneID":\#(own),"recordChangeTag":"e","#
        + #""fields":{"title":{"value":"Milk","type":"STRING"}},"deleted":false},"#
        + #"{"recordName":"n-2","recordType":"Note","zoneID":\#(own),"deleted":true}],"#
        + #""syncToken":"U","moreComing":false,"clientChangeTokenData":"AQID"},"#
        + #"{"zoneID":{"zoneName":"Old","ownerRecordName":"_me"},"uuid":"u","#
        + #""serverErrorCode":"BAD_REQUEST","reasonCode":"CHANGE_TOKEN_EXPIRED","#
        + #""reason":"too old"}]}"#)
  }

  @Test("A database's changes are answered by both operations")
  func databaseExample() {
    func body<Naming: DatabaseChangesNaming>(_ naming: Naming.Type) -> String {
      let response = DatabaseChangesResponse<Naming>(
        zones: [
          .success(.changed(notes)), .success(.deleted(ZoneID(zoneName: "Old"))),
          .success(.purged(ZoneID(zoneName: "Lost"))),
        ],
        syncToken: "U", moreComing: true)
      return String(decoding: response.body(context: serverContext), as: UTF8.self)
    }
    func zone(_ name: String) -> String {
      #"{"zoneID":{"zoneName":"\#(name)","ownerRecordName":"_me","#
        + #""zoneType":"REGULAR_CUSTOM_ZONE"}"#
    }
    #expect(
      body(CurrentDatabaseChanges.self)
        == #"{"zones":[\#(zone("Notes"))},\#(zone("Old")),"deleted":true},"#
        + #"\#(zone("Lost")),"deleted":true,"purged":true}],"syncToken":"U","moreComing":true}"#)
    #expect(
      body(SupersededDatabaseChanges.self)
        == #"{"zones":[\#(zone("Notes")),"atomic":true},\#(zone("Old")),"deleted":true},"#
        + #"\#(zone("Lost")),"deleted":true,"purged":true}],"#
        + #""metaSyncToken":"U","moreComing":true}"#)
  }

  @Test("Keys beside the list of zones count for those that lack them")
  func defaults() throws {
    let read = try ZoneChangesRequest(
      parsing: Data(
        #"""
        { "zones": [ { "zoneID": { "zoneName": "Notes" } },
            { "zoneID": { "zoneName": "Other" }, "reverse": false, "desiredKeys": [],
              "resultsLimit": 7, "numberAsStrings": 0 } ],
          "reverse": true, "desiredKeys": ["a"], "desiredRecordTypes": ["Note"],
          "resultsLimit": 5, "numbersAsStrings": true }
        """#.utf8), context: serverContext
    ).zones.map { try $0.get() }
    var notes = RecordChangesRequest(zoneID: notes)
    notes.isReversed = true
    notes.desiredKeys = ["a"]
    notes.desiredRecordTypes = ["Note"]
    notes.resultsLimit = 5
    notes.numbersAsStrings = true
    var other = RecordChangesRequest(zoneID: ZoneID(zoneName: "Other"))
    other.desiredKeys = []
    other.desiredRecordTypes = ["Note"]
    other.resultsLimit = 7
    #expect(read == [notes, other])
  }

  @Test("Both spellings ask for numbers as strings", arguments: ["number", "numbers"])
  func numbersAsStrings(spelling: String) throws {
    let request = try RecordChangesRequest(
      parsing: Data(#"{"\#(spelling)AsStrings": true}"#.utf8), context: serverContext)
    #expect(request.numbersAsStrings)
  }

  // MARK: Mistakes

  @Test(
    "A broken request names its place and its rule",
    arguments: [
      (#"{}"#, "'zones' is missing"),
      (#"{"zones":[],"resultsLimit":-1}"#, "resultsLimit: must not be negative"),
      (#"{"zones":[],"desiredKeys":"a"}"#, "desiredKeys: must be an array, not a string"),
    ])
  func broken(body: String, expected: String) {
    #expect(
      reason {
        _ = try ZoneChangesRequest(parsing: Data(body.utf8), context: serverContext)
      } == expected)
  }

  @Test("One broken zone leaves the others, and its failure bears its name")
  func leniency() throws {
    let zones = try ZoneChangesRequest(
      parsing: Data(
        #"""
        {"zones":[{"zoneID":{"zoneName":"A"}},{"zoneID":{"zoneName":"B"},"syncToken":5},
          {"syncToken":"T"}]}
        """#.utf8), context: serverContext
    ).zones
    #expect(try zones[0].get() == RecordChangesRequest(zoneID: ZoneID(zoneName: "A")))
    #expect(
      reason { _ = try zones[1].get() } == "zones[1].syncToken: must be a string, not a number")
    guard case .failure(let failed) = zones[1] else { return }
    #expect(failed.name == .zone(ZoneID(zoneName: "B")))
    #expect(reason { _ = try zones[2].get() } == "zones[2]: 'zoneID' is missing")
  }

  @Test("What a device leaves with its changes is bytes in base64, and not too many")
  func clientChangeTokens() throws {
    var request = ModifyRecordsRequest(
      operations: [RecordOperation(kind: .forceDelete, recordID: RecordID(recordName: "r"))],
      isAtomic: true)
    request.clientChangeTokenData = Data([0, 255])
    let body = request.body(context: client)
    let read = try ModifyRecordsRequest(parsing: body, context: serverContext)
    #expect(read.clientChangeTokenData == Data([0, 255]))
    let long = Data(count: 10_001).base64EncodedString()
    for (value, expected) in [
      (#""?""#, "must be base64"), ("1", "must be a string, not a number"),
      (#""\#(long)""#, "has 10001 bytes; the limit is 10000"),
    ] {
      let body = #"{"operations":[],"clientChangeTokenData":\#(value)}"#
      #expect(
        reason { _ = try ModifyRecordsRequest(parsing: Data(body.utf8), context: serverContext) }
          == "clientChangeTokenData: \(expected)")
    }
  }
}
