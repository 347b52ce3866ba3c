import CloudKitModel
import Foundation
import JSONCoding
import PredicateLanguage
import SchemaLanguage
import Settings

@testable import APNsSimulation
@testable import Configuration

// Languages: JSON, predicates, schemas, and files that an operator writes.
extension FuzzTarget {
  static let texts = [json, predicates, schemas, configurations, simulatorFiles]

  private static let jsonWords = [
    "{", "}", "[", "]", "\":", "null", "true", "false", "\\u0000", "\\ud83d\\ude00", "\\ud800",
    "1e400", "-0", "9223372036854775807", "-9223372036854775808", "0.1", "1E-5",
  ]

  private static let json = FuzzTarget("json", words: jsonWords) { input in
    let data = Data(input)
    guard let document = read({ try JSONDocument(parsing: data) }) else {
      try hold(read { try JSONValue(parsing: data) } == nil, "both readers refuse the same")
      return
    }
    let value = document.root.value
    try hold(read { try JSONValue(parsing: data) } == value, "both readers read the same")
    let again = try must("what was written is read") { try JSONValue(parsing: value.text) }
    try hold(again == value, "writing and reading gives \(value.text), not \(again.text)")
    try hold(again.text == value.text, "writing gives the same text each time")
    try hold(
      (try? JSONSerialization.jsonObject(with: Data(value.text.utf8), options: .fragmentsAllowed))
        != nil, "another reader takes what was written: \(value.text.prefix(200))")
  }

  private static let predicateWords = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS[cd]", "BEGINSWITH", "ENDSWITH", "LIKE",
    "MATCHES", "TOKENMATCHES[cdl]", "ANY", "ALL", "NONE", "SELF", "TRUEPREDICATE", "nil",
    "distanceToLocation:fromLocation:(", "CAST(", "FUNCTION(", "SUBQUERY(", "now()", "==", "!=",
    "{", "}", "%@", "%K", "$x", ".@count", "[FIRST]", "allTokens",
  ]

  private static let predicates = FuzzTarget("predicates", words: predicateWords) { input in
    guard let node = read({ try PredicateParser.parse(input.text) }) else { return }
    let printed = PredicatePrinter.text(node)
    let again = try must("'\(printed)' is read") { try PredicateParser.parse(printed) }
    try hold(
      PredicatePrinter.text(again) == printed,
      "'\(printed)' is printed as '\(PredicatePrinter.text(again))'")
    let now = Timestamp(milliseconds: 1_000)
    guard let filters = read({ try PredicateLowering(now: now).filters(for: node) }) else { return }
    try hold(
      read { try PredicateLowering(now: now).filters(for: again) } == filters,
      "'\(printed)' finds the same as what it was printed from")
    for filter in filters where read({ try filter.validate() }) != nil {
      _ = filter.matches(Self.record)
    }
  }

  private static let record: Record = {
    var record = Record(recordID: RecordID(recordName: "r"), recordType: "T")
    record.fields = [
      "a": .int64(1), "b": .string("two words"), "c": .list(of: .string, [.string("x")]),
      "d": .location(Location(latitude: 1, longitude: 2)), "e": .double(0.5),
    ]
    return record
  }()

  private static let schemaWords = [
    "DEFINE SCHEMA", "CREATE ROLE", "RECORD TYPE", "GRANT READ, CREATE, WRITE TO", "\"_creator\"",
    "\"_icloud\"", "\"_world\"", "QUERYABLE", "SORTABLE", "SEARCHABLE", "LIST<", "ENCRYPTED",
    "NUMBER PREFERRED AS INT64", "TIMESTAMP", "REFERENCE", "LOCATION", "ASSET", "BYTES", "DOUBLE",
    "\"___recordID\"", "/*", "*/", "--", "//", ");",
  ]

  private static let schemas = FuzzTarget("schemas", words: schemaWords) { input in
    guard let schema = read({ try ContainerSchema(parsing: input.text) }) else { return }
    let printed = schema.text
    let again = try must("what was printed is read") { try ContainerSchema(parsing: printed) }
    try hold(again == schema, "the printed schema is the same: \(printed)")
    try hold(again.text == printed, "printing gives the same text each time")
  }

  private static let configurations = FuzzTarget(
    "configurations",
    words: ConfigurationKey.all.map { "\"\($0.name)\":" } + ["{", "}", "true", "[\"", "\"]"]
  ) { input in
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(
      "petrel-fuzzed-\(ProcessInfo.processInfo.processIdentifier).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(input).write(to: file)
    var configuration = ServerConfiguration(dataDirectory: "/nowhere")
    do throws(ConfigurationError) {
      try configuration.apply(fileAt: file.path)
    } catch {
      try hold(!error.description.isEmpty, "a mistake is told")
    }
  }

  private static let simulatorFiles = FuzzTarget(
    "simulator-files",
    words: jsonWords + [
      "\"steps\":", "\"do\":", "\"after\":", "\"times\":", "\"reject\"", "\"goAway\"", "\"set\"",
      "\"streams\":", "\"reason\":", "\"ServiceUnavailable\"", "\"retryAfter\":", "reject", "next",
    ], readsSafeTexts: true
  ) { input in
    let text = input.text
    if let script = read({ try SimulatorScript(parsing: text) }) {
      var configuration = APNsSimulator.Configuration()
      script.apply(to: &configuration)
    }
    _ = read { try FaultInstruction.parse(text) }
    if let push = read({ try ReceivedPush(jsonLine: text) }) {
      let again = try must("a line that was written is read") {
        try ReceivedPush(jsonLine: push.jsonLine)
      }
      try hold(again.jsonLine == push.jsonLine, "a line is written the same each time")
    }
  }
}
