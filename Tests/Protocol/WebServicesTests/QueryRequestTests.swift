import CloudKitModel
import Foundation
import Testing
import WebServices

struct QueryRequestTests {
  @Test(
    "A broken query names what is wrong",
    arguments: [
      ("{}", "'query' is missing"),
      (#"{"query":{}}"#, "query: 'recordType' is missing"),
      (
        #"{"query":{"recordType":"9"}}"#,
        "query: record type '9' must begin with a letter and hold only letters, digits and '_'"
      ),
      (
        #"{"query":{"recordType":"Q","filterBy":"x"}}"#,
        "query.filterBy: must be an array, not a string"
      ),
      (#"{"query":{"recordType":"Q","sortBy":[{}]}}"#, "query.sortBy[0]: 'fieldName' is missing"),
      (
        #"{"query":{"recordType":"Q","sortBy":[{"systemFieldName":"age"}]}}"#,
        "query.sortBy[0]: unknown systemFieldName 'age'"
      ),
      (
        #"{"query":{"recordType":"Q"},"resultsLimit":-1}"#, "resultsLimit: must not be negative"
      ),
      (
        #"{"query":{"recordType":"Q"},"resultsLimit":1.5}"#,
        "resultsLimit: must be a whole number, not a number with a fraction"
      ),
      (
        #"{"query":{"recordType":"Q"},"continuationMarker":5}"#,
        "continuationMarker: must be a string, not a number"
      ),
    ])
  func queries(json: String, expected: String) {
    #expect(reason { _ = try query(json) } == expected)
  }

  private static let suva = #""fieldValue":{"value":{"latitude":-18.1,"longitude":178.4}}"#

  @Test(
    "A broken filter names what is wrong",
    arguments: [
      (#"{"fieldName":"a","fieldValue":{"value":1}}"#, ".filterBy[0]: 'comparator' is missing"),
      (
        #"{"comparator":"LIKE","fieldName":"a","fieldValue":{"value":1}}"#,
        ".filterBy[0]: unknown comparator 'LIKE'; known are EQUALS, NOT_EQUALS, LESS_THAN, "
          + "LESS_THAN_OR_EQUALS, GREATER_THAN, GREATER_THAN_OR_EQUALS, NEAR, CONTAINS_ALL_TOKENS, "
          + "CONTAINS_ANY_TOKENS, IN, NOT_IN, LIST_CONTAINS, NOT_LIST_CONTAINS, LIST_CONTAINS_ALL, "
          + "NOT_LIST_CONTAINS_ALL, LIST_CONTAINS_ANY, NOT_LIST_CONTAINS_ANY, BEGINS_WITH, "
          + "NOT_BEGINS_WITH, LIST_MEMBER_BEGINS_WITH, NOT_LIST_MEMBER_BEGINS_WITH"
      ),
      (
        #"{"comparator":"EQUALS","fieldValue":{"value":1}}"#,
        ".filterBy[0]: 'fieldName' is missing"
      ),
      (#"{"comparator":"EQUALS","fieldName":"a"}"#, ".filterBy[0]: 'fieldValue' is missing"),
      (
        #"{"comparator":"EQUALS","fieldName":"a","fieldValue":{"type":"STRING"}}"#,
        ".filterBy[0].fieldValue: 'value' is missing"
      ),
      (
        #"{"comparator":"EQUALS","systemFieldName":"age","fieldValue":{"value":1}}"#,
        ".filterBy[0]: unknown systemFieldName 'age'"
      ),
      (
        #"{"comparator":"EQUALS","fieldName":"___age","fieldValue":{"value":1}}"#,
        ": field name '___age' must begin with a letter and hold only letters, digits and '_'"
      ),
      (
        #"{"comparator":"IN","fieldName":"a","fieldValue":{"value":1}}"#,
        ": IN on 'a' needs a list, not INT64"
      ),
      (
        #"{"comparator":"LESS_THAN","fieldName":"a","fieldValue":{"value":null}}"#,
        ": LESS_THAN on 'a' needs a value"
      ),
      (
        #"{"comparator":"NEAR","fieldName":"a",\#(suva)}"#,
        ": NEAR on 'a' needs a distance in metres that is not negative"
      ),
      (
        #"{"comparator":"NEAR","fieldName":"a","distance":"far",\#(suva)}"#,
        ".filterBy[0].distance: must be a number, not a string"
      ),
      (
        #"{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":1},"distance":1}"#,
        ": EQUALS on 'a' must not have a distance"
      ),
      (
        #"{"comparator":"LESS_THAN","fieldName":"a","fieldValue":{"value":1,"type":"TIMESTAMP","fraction":1e-4}}"#,
        ": LESS_THAN on 'a' cannot compare with a fraction of a millisecond: only encrypted fields "
          + "have dates with one, and they are not searchable"
      ),
    ])
  func filters(json: String, expected: String) {
    #expect(reason { _ = try filter(json) } == "query" + expected)
  }

  @Test("A query may have 100 filters and no more")
  func limit() throws {
    func body(_ count: Int) -> String {
      let filter = #"{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":1}}"#
      let filters = Array(repeating: filter, count: count).joined(separator: ",")
      return #"{"query":{"recordType":"Q","filterBy":[\#(filters)]}}"#
    }
    #expect(try query(body(100)).query.filters.count == 100)
    #expect(
      reason { _ = try query(body(101)) } == "query: the query has 101 filters; the limit is 100")
  }

  @Test("Every documented comparator is understood", arguments: CloudKitModel.Comparator.allCases)
  func comparators(comparator: CloudKitModel.Comparator) throws {
    let values: [(value: String, distance: String)] = [
      (#"{"value":"a"}"#, ""), (#"{"value":["a"]}"#, ""),
      (#"{"value":{"latitude":1,"longitude":2}}"#, #","distance":5"#),
    ]
    let read = values.compactMap { value, distance in
      try? filter(
        #"""
        {"comparator":"\#(comparator.rawValue)","fieldName":"a","fieldValue":\#(value)\#(distance)}
        """#)
    }
    #expect(!read.isEmpty && read.allSatisfy { $0.comparator == comparator })
  }

  @Test(
    "System fields go by their web-services, native and schema names",
    arguments: [
      ("recordName", "___recordID", .recordName),
      ("createdTimestamp", "___createTime", .createdTimestamp),
      ("modifiedTimestamp", "___modTime", .modifiedTimestamp),
      ("createdUserRecordName", "___createdBy", .createdUserRecordName),
      ("modifiedUserRecordName", "___modifiedBy", .modifiedUserRecordName),
      ("recordChangeTag", "___etag", .recordChangeTag),
    ] as [(String, String, SystemField)])
  func systemFields(webName: String, schemaName: String, field: SystemField) throws {
    let keys = [
      #""systemFieldName":"\#(webName)""#, #""systemFieldName":"\#(schemaName)""#,
      #""fieldName":"\#(schemaName)""#,
    ]
    for key in keys {
      let filter = try filter(#"{"comparator":"EQUALS",\#(key),"fieldValue":{"value":"x"}}"#)
      #expect(filter.key == .system(field))
      let query = try query(#"{"query":{"recordType":"Q","sortBy":[{\#(key),"ascending":0}]}}"#)
      #expect(query.query.sortKeys == [SortKey(.system(field), ascending: false)])
    }
  }

  @Test("A token search without a field name searches all text")
  func allText() throws {
    let read = try filter(
      #"{"comparator":"CONTAINS_ALL_TOKENS","fieldValue":{"value":"deep sea"}}"#)
    #expect(read == Filter(.allText, .containsAllTokens, .string("deep sea")))
  }

  @Test("A query without a zone searches the default zone, with zoneWide all of them")
  func zones() throws {
    func zone(_ members: String) throws -> ZoneID? {
      try query(#"{"query":{"recordType":"Q"}\#(members)}"#).zoneID
    }
    #expect(try zone("") == .default)
    #expect(try zone(#","zoneWide":false"#) == .default)
    #expect(try zone(#","zoneWide":true"#) == nil)
    #expect(try zone(#","zoneWide":1,"zoneID":{"zoneName":"A"}"#) == ZoneID(zoneName: "A"))
  }
}
