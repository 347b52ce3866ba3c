import Foundation

/// A request that costs its sender little and a careless server much.
enum AttackShape: String, CaseIterable {
  case markedWords = "combining marks in a search"
  case markedName = "combining marks in a record name"
  case markedValue = "combining marks in a stored value"
  case caseInsensitive = "a search whatever the case"
  case manyWords = "many words in a search"
  case wideObject = "a record of 100,000 fields"
  case deepArray = "100,000 arrays in one another"
  case longNumber = "a number of a million digits"
  case manyRecords = "400 records saved"
  case manyLookups = "400 records looked up"
  case tooManyOperations = "50,000 operations"
  case longPage = "a sorted page without an index"
  case exclusion = "all but 500 values"

  private static let root = "/database/1/\(Installation.container)/development/public/records/"

  /// The operation of the public database that it asks for.
  var path: String {
    switch self {
    case .markedWords, .caseInsensitive, .manyWords, .longPage, .exclusion: Self.root + "query"
    case .markedName, .deepArray, .manyLookups: Self.root + "lookup"
    case .markedValue, .wideObject, .longNumber, .manyRecords, .tooManyOperations:
      Self.root + "modify"
    }
  }

  var body: String {
    switch self {
    case .markedWords: Self.query("CONTAINS_ALL_TOKENS", nil, "\"\(Self.marks(200_000))\"")
    case .markedName: #"{"records":[{"recordName":"\#(Self.marks(200_000))"}]}"#
    case .markedValue: Self.save(#""title":{"value":"\#(Self.marks(100_000))"}"#)
    case .caseInsensitive:
      Self.query("EQUALS", "title", "\"NOTHING\"", more: #","caseInsensitive":true"#)
    case .manyWords:
      Self.query(
        "CONTAINS_ANY_TOKENS", nil,
        "\"\((0..<50_000).map { "w\($0)" }.joined(separator: " "))\"")
    case .wideObject:
      Self.save((0..<100_000).map { "\"f\($0)\":{\"value\":\($0)}" }.joined(separator: ","))
    case .deepArray:
      #"{"records":\#(String(repeating: "[", count: 100_000))"#
        + String(repeating: "]", count: 100_000) + "}"
    case .longNumber:
      Self.save(#""number":{"value":\#(String(repeating: "7", count: 1_000_000))}"#)
    case .manyRecords:
      Self.operations(400) {
        #"{"operationType":"forceUpdate","record":{"recordName":"attack\#($0)","#
          + #""recordType":"Spam","fields":{"number":{"value":\#($0)}}}}"#
      }
    case .manyLookups:
      #"{"records":["#
        + (0..<400).map { #"{"recordName":"article\#($0)"}"# }.joined(separator: ",") + "]}"
    case .tooManyOperations:
      Self.operations(50_000) {
        #"{"operationType":"create","record":{"recordName":"n\#($0)","recordType":"Spam"}}"#
      }
    case .longPage:
      #"{"query":{"recordType":"Article","sortBy":[{"fieldName":"title"},{"fieldName":"number","#
        + #""ascending":false}]},"resultsLimit":200}"#
    case .exclusion:
      Self.query(
        "NOT_IN", "number", "[\((0..<500).map(String.init).joined(separator: ","))]")
    }
  }

  /// Two kinds of marks by turns, which a normal form has to put in order.
  private static func marks(_ bytes: Int) -> String {
    "e" + String(repeating: "\u{301}\u{323}", count: bytes / 4)
  }

  private static func query(
    _ comparator: String, _ field: String?, _ value: String, more: String = ""
  ) -> String {
    #"{"query":{"recordType":"Article","filterBy":[{"comparator":"\#(comparator)","#
      + (field.map { #""fieldName":"\#($0)","# } ?? "")
      + #""fieldValue":{"value":\#(value)}\#(more)}]}}"#
  }

  private static func save(_ fields: String) -> String {
    #"{"operations":[{"operationType":"forceUpdate","record":{"recordName":"attack","#
      + #""recordType":"Article","fields":{\#(fields)}}}]}"#
  }

  private static func operations(_ count: Int, _ operation: (Int) -> String) -> String {
    #"{"atomic":false,"operations":[\#((0..<count).map(operation).joined(separator: ","))]}"#
  }
}
