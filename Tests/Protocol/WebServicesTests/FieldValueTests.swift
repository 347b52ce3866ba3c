import CloudKitModel
import Foundation
import Testing
import WebServices

struct FieldValueTests {
  @Test(
    "Each type by its name",
    arguments: [
      (#"{"value":"a","type":"STRING"}"#, .string("a")),
      (#"{"value":5,"type":"INT64"}"#, .int64(5)),
      (#"{"value":5.0,"type":"INT64"}"#, .int64(5)),
      (#"{"value":"9007199254740993","type":"INT64"}"#, .int64(9_007_199_254_740_993)),
      (#"{"value":true,"type":"INT64"}"#, .int64(1)),
      (#"{"value":5,"type":"DOUBLE"}"#, .double(5)),
      (#"{"value":"5.25","type":"DOUBLE"}"#, .double(5.25)),
      (
        #"{"value":1700000000000,"type":"TIMESTAMP"}"#,
        .timestamp(Timestamp(milliseconds: 1_700_000_000_000))
      ),
      (#"{"value":-1,"type":"TIMESTAMP"}"#, .timestamp(Timestamp(milliseconds: -1))),
      (
        #"{"value":5,"type":"TIMESTAMP","fraction":-0.00025}"#,
        .preciseTimestamp(
          PreciseTimestamp(timestamp: Timestamp(milliseconds: 5), remainder: -0.00025))
      ),
      (
        #"{"value":[5,6],"type":"TIMESTAMP_LIST","fraction":[0.00025,0]}"#,
        .list(
          of: .timestamp,
          [
            .preciseTimestamp(
              PreciseTimestamp(timestamp: Timestamp(milliseconds: 5), remainder: 0.00025)),
            .timestamp(Timestamp(milliseconds: 6)),
          ])
      ),
      (#"{"value":"AAEC","type":"BYTES"}"#, .bytes(Data([0, 1, 2]))),
      (#"{"value":"","type":"BYTES"}"#, .bytes(Data())),
      (
        #"{"value":{"latitude":-18.1,"longitude":178,"timestamp":5},"type":"LOCATION"}"#,
        .location(
          Location(latitude: -18.1, longitude: 178, timestamp: Timestamp(milliseconds: 5)))
      ),
      (
        #"{"value":{"recordName":"x"},"type":"REFERENCE"}"#,
        .reference(Reference(recordName: "x"))
      ),
      (
        #"{"value":{"recordName":"x","action":"DELETE_SELF","zoneID":{"zoneName":"Z"}}}"#,
        .reference(
          Reference(recordName: "x", zoneID: ZoneID(zoneName: "Z"), action: .deleteSelf))
      ),
      (
        #"{"value":{"fileChecksum":"c","size":3},"type":"ASSETID"}"#,
        .asset(Asset(fileChecksum: "c", size: 3))
      ),
      (
        #"{"value":{"fileChecksum":"c","size":3},"type":"ASSET"}"#,
        .asset(Asset(fileChecksum: "c", size: 3))
      ),
      (#"{"value":[],"type":"STRING_LIST"}"#, .list(of: .string, [])),
      (#"{"value":[],"type":"ASSET_LIST"}"#, .list(of: .asset, [])),
      (#"{"value":[1,2.5],"type":"DOUBLE_LIST"}"#, .list(of: .double, [.double(1), .double(2.5)])),
      (#"{"value":["1",2],"type":"INT64_LIST"}"#, .list(of: .int64, [.int64(1), .int64(2)])),
      (#"{"value":40,"type":"NUMBER_INT64"}"#, .int64(40)),
      (#"{"value":4,"type":"NUMBER_DOUBLE"}"#, .double(4)),
      (#"{"value":[4],"type":"NUMBER_DOUBLE_LIST"}"#, .list(of: .double, [.double(4)])),
    ] as [(String, RecordValue)])
  func typed(json: String, expected: RecordValue) throws {
    #expect(try fieldValue(json) == expected)
  }

  @Test(
    "Without a type the JSON decides",
    arguments: [
      (#"{"value":"a"}"#, .string("a")),
      (#"{"value":"2024-01-01"}"#, .string("2024-01-01")),
      (#"{"value":5}"#, .int64(5)),
      (#"{"value":5.0}"#, .double(5)),
      (#"{"value":5.5}"#, .double(5.5)),
      (#"{"value":false}"#, .int64(0)),
      (#"{"value":{"latitude":1,"longitude":2}}"#, .location(Location(latitude: 1, longitude: 2))),
      (#"{"value":{"recordName":"x"}}"#, .reference(Reference(recordName: "x"))),
      (#"{"value":{"fileChecksum":"c","size":3}}"#, .asset(Asset(fileChecksum: "c", size: 3))),
      (#"{"value":["a"]}"#, .list(of: .string, [.string("a")])),
      (#"{"value":[1,2]}"#, .list(of: .int64, [.int64(1), .int64(2)])),
      (#"{"value":[1,2.5]}"#, .list(of: .double, [.double(1), .double(2.5)])),
      (#"{"value":5,"type":null}"#, .int64(5)),
    ] as [(String, RecordValue)])
  func inferred(json: String, expected: RecordValue) throws {
    #expect(try fieldValue(json) == expected)
  }

  @Test(
    "What cannot be the value says where, what was expected and what was found",
    arguments: [
      (
        #"{"value":5,"type":"STRING"}"#,
        ".value: Invalid value, expected type STRING, found a number"
      ),
      (
        #"{"value":"x","type":"INT64"}"#,
        ".value: Invalid value, expected type INT64, found a string"
      ),
      (
        #"{"value":5.5,"type":"INT64"}"#,
        ".value: Invalid value, expected type INT64, found a number with a fraction"
      ),
      (
        #"{"value":9223372036854775808,"type":"INT64"}"#,
        ".value: Invalid value, expected type INT64, found a number beyond 64 bits"
      ),
      (
        #"{"value":true,"type":"DOUBLE"}"#,
        ".value: Invalid value, expected type DOUBLE, found a boolean"
      ),
      (
        #"{"value":"2024-01-01T00:00:00Z","type":"TIMESTAMP"}"#,
        ".value: Invalid value, expected type TIMESTAMP, found a string"
      ),
      (
        #"{"value":1700000000000.5,"type":"TIMESTAMP"}"#,
        ".value: Invalid value, expected type TIMESTAMP, found a number with a fraction"
      ),
      (
        #"{"value":"not base64!","type":"BYTES"}"#,
        ".value: Invalid value, expected type BYTES, found a string that is not base64"
      ),
      (
        #"{"value":[1],"type":"BYTES"}"#,
        ".value: Invalid value, expected type BYTES, found an array"
      ),
      (#"{"value":5,"type":"LOCATION"}"#, ".value: must be an object, not a number"),
      (#"{"value":{"latitude":5},"type":"LOCATION"}"#, ".value: 'longitude' is missing"),
      (
        #"{"value":{"latitude":5,"longitude":"east"},"type":"LOCATION"}"#,
        ".value.longitude: must be a number, not a string"
      ),
      (
        #"{"value":{"latitude":90.5,"longitude":0}}"#,
        ".value: latitude 90.5 of 'value' is not within -90…90"
      ),
      (
        #"{"value":{"latitude":0,"longitude":"nan"}}"#,
        ".value: longitude nan of 'value' is not within -180…180"
      ),
      (
        #"{"value":{"latitude":0,"longitude":0,"timestamp":1e30}}"#,
        ".value.timestamp: must be a whole number, not a number beyond 64 bits"
      ),
      (#"{"value":{},"type":"REFERENCE"}"#, ".value: 'recordName' is missing"),
      (
        #"{"value":{"recordName":"x","action":"CASCADE"}}"#,
        ".value.action: 'CASCADE' must be NONE, DELETE_SELF or VALIDATE"
      ),
      (#"{"value":{"fileChecksum":"c"},"type":"ASSETID"}"#, ".value: 'size' is missing"),
      (
        #"{"value":"a","type":"STRING_LIST"}"#,
        ".value: Invalid value, expected type STRING_LIST, found a string"
      ),
      (
        #"{"value":["a",5],"type":"STRING_LIST"}"#,
        ".value[1]: Invalid value, expected type STRING, found a number"
      ),
      (#"{"value":["a",5]}"#, ".value[1]: Invalid value, expected type STRING, found a number"),
      (#"{"value":[1,null]}"#, ".value[1]: Invalid value, expected type INT64, found null"),
      (#"{"value":[null]}"#, ".value[0]: must not be null in a list"),
      (#"{"value":[[1]]}"#, ".value[0]: lists cannot hold lists"),
      (#"{"value":{"lat":1}}"#, ".value: is neither a location, a reference nor an asset"),
      (#"{"value":1,"type":"INTEGER"}"#, ": unknown field type 'INTEGER'"),
      (#"{"value":1,"type":7}"#, ".type: must be a string, not a number"),
      (#"{"valeu":1}"#, ": 'value' is missing"),
      (#"{"type":"STRING"}"#, ": 'value' is missing"),
      (#""Milk""#, ": must be an object, not a string"),
    ])
  func mistakes(json: String, expected: String) {
    #expect(
      reason { _ = try fieldValue(json) } == "operations[0].record.fields.magnitude" + expected)
  }

  @Test(
    "Null removes a field, as its value and as its whole", arguments: ["null", #"{"value":null}"#])
  func removal(json: String) throws {
    let operation = try recordOperation(
      #"{"operationType":"update","record":{"recordName":"r","fields":{"a":\#(json)}}}"#)
    #expect(operation.fields == ["a": nil])
  }

  @Test("isEncrypted and other unknown keys beside a value are let pass")
  func unknownKeys() throws {
    #expect(
      try fieldValue(#"{"value":"a","type":"STRING","isEncrypted":true,"x":{}}"#) == .string("a"))
  }

  @Test("Of several mistakes in a record the first in the text is reported")
  func firstMistake() {
    let reason = reason {
      _ = try recordOperation(
        #"""
        {"operationType":"update","record":{"recordName":"r",
          "fields":{"c":{"value":{}},"a":{"value":{}},"b":{"value":{}}}}}
        """#)
    }
    #expect(reason?.hasPrefix("operations[0].record.fields.c.value:") == true)
  }

  @Test("numbersAsStrings turns integers and doubles into strings, also in lists, and no dates")
  func numbersAsStrings() {
    let record = Record(
      recordID: RecordID(recordName: "r"), recordType: "Note",
      fields: [
        "a": .int64(9_007_199_254_740_993), "b": .double(5), "c": .list(of: .int64, [.int64(1)]),
        "d": .timestamp(Timestamp(milliseconds: 7)),
      ])
    let body = RecordsResponse(records: [.success(.record(record))]).body(
      context: MessageContext(ownerNaming: .explicit, numbersAsStrings: true))
    #expect(
      String(decoding: body, as: UTF8.self)
        == #"{"records":[{"recordName":"r","recordType":"Note","#
        + #""zoneID":{"zoneName":"_defaultZone"},"#
        + #""fields":{"a":{"value":"9007199254740993","type":"INT64"},"#
        + #""b":{"value":"5.0","type":"DOUBLE"},"c":{"value":["1"],"type":"INT64_LIST"},"#
        + #""d":{"value":7,"type":"TIMESTAMP"}},"deleted":false}]}"#)
  }
}
