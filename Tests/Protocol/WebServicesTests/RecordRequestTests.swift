import CloudKitModel
import Foundation
import Testing
import WebServices

struct RecordRequestTests {
  @Test(
    "A broken request as a whole names what is wrong",
    arguments: [
      ("[]", "the body must be a JSON object, not an array"),
      (#""x""#, "the body must be a JSON object, not a string"),
      ("{}", "'operations' is missing"),
      (#"{"operations":null}"#, "'operations' is missing"),
      (#"{"operations":{}}"#, "operations: must be an array, not an object"),
      (#"{"operations":[],"atomic":"yes"}"#, "atomic: must be true or false, not a string"),
      (#"{"operations":[],"atomic":2}"#, "atomic: must be true or false, not a number"),
      (#"{"operations":[],"desiredKeys":"a"}"#, "desiredKeys: must be an array, not a string"),
      (#"{"operations":[],"desiredKeys":[1]}"#, "desiredKeys[0]: must be a string, not a number"),
      (#"{"operations":[],"zoneID":7}"#, "zoneID: must be an object, not a number"),
      (
        #"{"operations":[],"zoneID":{"zoneName":5}}"#,
        "zoneID.zoneName: must be a string, not a number"
      ),
      (
        #"{"operations":[],"numbersAsStrings":"no"}"#,
        "numbersAsStrings: must be true or false, not a string"
      ),
    ])
  func wholeRequest(body: String, expected: String) {
    #expect(reason { _ = try recordOperations(body) } == expected)
  }

  @Test("A text that is not JSON is refused as such", arguments: [" ", "{", "{\"a\":}", "\u{FF}"])
  func notJSON(body: String) {
    #expect(reason { _ = try recordOperations(body) }?.hasPrefix("not valid JSON: ") == true)
  }

  @Test(
    "A broken operation names its place and its rule",
    arguments: [
      ("5", ": must be an object, not a number"),
      (#"{"record":{"recordName":"r"}}"#, ": 'operationType' is missing"),
      (
        #"{"operationType":"upsert","record":{"recordName":"r"}}"#,
        ": operationType 'upsert' must be one of create, update, forceUpdate, replace, "
          + "forceReplace, delete, forceDelete"
      ),
      (#"{"operationType":7,"record":{}}"#, ".operationType: must be a string, not a number"),
      (#"{"operationType":"update"}"#, ": 'record' is missing"),
      (#"{"operationType":"update","record":[]}"#, ".record: must be an object, not an array"),
      (#"{"operationType":"update","record":{}}"#, ".record: 'recordName' is missing"),
      (
        #"{"operationType":"delete","record":{"recordName":""}}"#,
        ".record: recordName must not be empty"
      ),
      (
        #"{"operationType":"create","record":{"recordName":"_r"}}"#,
        ".record: recordName '_r' begins with '_', which is reserved for system names"
      ),
      (
        #"{"operationType":"create","record":{"recordName":"é\u0085"}}"#,
        ".record: recordName 'é\u{85}' has the control character U+0085, which names must not have"
      ),
      (
        #"{"operationType":"create","record":{"recordType":5}}"#,
        ".record.recordType: must be a string, not a number"
      ),
      (
        #"{"operationType":"update","record":{"recordName":"r","recordChangeTag":1}}"#,
        ".record.recordChangeTag: must be a string, not a number"
      ),
      (
        #"{"operationType":"update","record":{"recordName":"r","fields":[]}}"#,
        ".record.fields: must be an object, not an array"
      ),
      (
        #"{"operationType":"update","record":{"recordName":"r","parent":{}}}"#,
        ".record.parent: 'recordName' is missing"
      ),
    ])
  func operations(json: String, expected: String) {
    #expect(reason { _ = try recordOperation(json) } == "operations[0]" + expected)
  }

  @Test("One broken operation leaves the others, and its failure bears its name")
  func leniency() throws {
    let items = try recordOperations(
      #"""
      {"zoneID":{"zoneName":"Quakes"},"operations":[
        {"operationType":"update","record":{"recordName":"a","fields":{"m":{"value":1}}}},
        {"operationType":"delete","record":{"recordName":"b","zoneID":{"zoneName":"Z"}}},
        {"operationType":"update","record":{"recordName":"c","subscriptionID":"stray",
          "fields":{"magnitude":{"value":"today","type":"TIMESTAMP"}}}},
        7,
        {"operationType":"fly","record":{"recordName":"d","zoneID":{"zoneName":"Z"}}}]}
      """#)
    let quakes = ZoneID(zoneName: "Quakes")
    #expect(
      try items[0].get()
        == RecordOperation(
          kind: .update, recordID: RecordID(recordName: "a", zoneID: quakes),
          fields: ["m": .int64(1)]))
    #expect(
      try items[1].get()
        == RecordOperation(
          kind: .delete, recordID: RecordID(recordName: "b", zoneID: ZoneID(zoneName: "Z"))))
    let failures = items[2...].compactMap { item -> FailedItem? in
      if case .failure(let failed) = item { return failed }
      return nil
    }
    #expect(
      failures.map(\.name) == [
        .record(recordName: "c", zoneID: nil), .unknown,
        .record(recordName: "d", zoneID: ZoneID(zoneName: "Z")),
      ])
    #expect(
      failures.map(\.error.reason) == [
        "operations[2].record.fields.magnitude.value: Invalid value, expected type TIMESTAMP, "
          + "found a string",
        "operations[3]: must be an object, not a number",
        "operations[4]: operationType 'fly' must be one of create, update, forceUpdate, replace, "
          + "forceReplace, delete, forceDelete",
      ])
  }

  @Test("400 operations pass, 401 are refused as a whole")
  func limit() throws {
    func body(_ count: Int) -> String {
      let operation = #"{"operationType":"forceDelete","record":{"recordName":"r"}}"#
      return #"{"operations":["#
        + Array(repeating: operation, count: count).joined(separator: ",") + "]}"
    }
    #expect(try recordOperations(body(400)).count == 400)
    #expect(
      reason { _ = try recordOperations(body(401)) }
        == "operations: has 401 items; the limit is 400 per request")
  }

  @Test("A created record without a name gets one of its own")
  func generatedNames() throws {
    let items = try recordOperations(
      #"""
      {"operations":[{"operationType":"create","record":{"recordType":"Note"}},
                     {"operationType":"create","record":{"recordType":"Note","recordName":null}}]}
      """#)
    let names = try items.map { try $0.get().recordID.recordName }
    #expect(names.allSatisfy { UUID(uuidString: $0) != nil })
    #expect(Set(names).count == 2)
  }

  @Test("An empty list is untyped without a type that is known")
  func untypedLists() throws {
    let body = """
      {"operations":[{"operationType":"create","record":{"recordType":"Note","recordName":"n","fields":{
        "a":{"value":[]}, "b":{"value":[],"type":"UNKNOWN_LIST"}, "c":{"value":[],"type":"INT64_LIST"},
        "d":{"value":[1]}, "e":{"value":1}}}}]}
      """
    let request = try ModifyRecordsRequest(
      parsing: Data(body.utf8), context: MessageContext(ownerNaming: .explicit))
    #expect(try request.operations[0].get().untypedLists == ["a", "b"])
  }

  @Test("A parent is set, removed or left alone")
  func parent() throws {
    func parent(_ member: String) throws -> Reference?? {
      try recordOperation(
        #"{"operationType":"update","record":{"recordName":"r"\#(member)}}"#
      ).parent
    }
    #expect(try parent("") == .none)
    #expect(try parent(#","parent":null"#) == .some(nil))
    #expect(
      try parent(#","parent":{"recordName":"p"}"#) == .some(Reference(recordName: "p")))
  }

  @Test(
    "Requests are atomic and ask for all fields unless they say otherwise; 0 and 1 are booleans")
  func defaults() throws {
    func request(_ members: String) throws -> ModifyRecordsRequest {
      try ModifyRecordsRequest(
        parsing: Data(#"{"operations":[]\#(members)}"#.utf8), context: serverContext)
    }
    let plain = try request("")
    #expect(plain.isAtomic && plain.desiredKeys == nil && !plain.numbersAsStrings)
    let other = try request(#","atomic":0,"desiredKeys":[],"numbersAsStrings":1,"other":[{}]"#)
    #expect(!other.isAtomic && other.desiredKeys == [] && other.numbersAsStrings)
    #expect(try request(#","atomic":null,"desiredKeys":null"#).desiredKeys == nil)
  }

  @Test("Lookups take the request's zone for records that name none")
  func lookup() throws {
    let request = try LookupRecordsRequest(
      parsing: Data(
        #"""
        {"zoneID":{"zoneName":"A"},"records":[{"recordName":"x"},
          {"recordName":"_user","zoneID":{"zoneName":"B"}}],"numbersAsStrings":true}
        """#.utf8), context: serverContext)
    #expect(
      request.recordIDs == [
        RecordID(recordName: "x", zoneID: ZoneID(zoneName: "A")),
        RecordID(recordName: "_user", zoneID: ZoneID(zoneName: "B")),
      ])
    #expect(request.numbersAsStrings)
    #expect(
      reason {
        _ = try LookupRecordsRequest(
          parsing: Data(#"{"records":[{"recordName":"x"},{}]}"#.utf8), context: serverContext)
      } == "records[1]: 'recordName' is missing")
  }
}
