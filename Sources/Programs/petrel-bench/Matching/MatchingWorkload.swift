import CloudKitModel
import CommandInterface
import Foundation
import JSONCoding
import Settings

/// The subscriptions and events of the matching benchmark, read from files. Each line of a file is
/// a JSON object in the format of CloudKit Web Services.
struct MatchingWorkload {
  var subscriptions: [Subscription]
  var changes: [Change]
  /// For each of the first events, the sorted IDs of the subscriptions that must match.
  var expected: [[String]]

  /// Reads `subscriptions.jsonl`, `events.jsonl` and, if the file exists, `expected.txt`.
  ///
  /// - Throws: `InputFile.Failure` if a file cannot be read, `UsageError` if a line is not a
  ///   subscription or an event.
  init(directory: String) throws {
    subscriptions = try Self.lines(directory + "/subscriptions.jsonl").map(Self.subscription)
    changes = try Self.lines(directory + "/events.jsonl").map(Self.change)
    let answers = directory + "/expected.txt"
    expected =
      FileManager.default.fileExists(atPath: answers)
      ? try Self.lines(answers).map { line in
        line.split(separator: "\t").dropFirst().first?.split(separator: " ").map(String.init) ?? []
      } : []
  }

  private static func lines(_ path: String) throws -> [Substring] {
    String(decoding: try InputFile.contents(of: path), as: UTF8.self).split(separator: "\n")
  }

  private static func subscription(_ line: Substring) throws -> Subscription {
    let json = try JSONValue(parsing: String(line))
    guard let identifier = json["subscriptionID"]?.string,
      let type = json["query"]?["recordType"]?.string
    else { throw UsageError("'\(line.prefix(80))…' is not a query subscription") }
    let filters = try (json["query"]?["filterBy"]?.array ?? []).map { filter in
      guard let field = filter["fieldName"]?.string,
        let comparator = filter["comparator"]?.string.flatMap(
          CloudKitModel.Comparator.init(rawValue:))
      else { throw UsageError("subscription '\(identifier)' has a filter without a comparator") }
      return Filter(
        .field(field), comparator, try filter["fieldValue"].map(value),
        distance: filter["distance"]?.double)
    }
    var options: Subscription.Options = []
    for event in json["firesOn"]?.array ?? [] {
      switch event.string {
      case "create": options.insert(.firesOnRecordCreation)
      case "update": options.insert(.firesOnRecordUpdate)
      case "delete": options.insert(.firesOnRecordDeletion)
      default: throw UsageError("subscription '\(identifier)' fires on an unknown event")
      }
    }
    return Subscription(
      subscriptionID: identifier,
      kind: .query(Query(recordType: type, filters: filters), zoneID: nil, options: options))
  }

  private static func change(_ line: Substring) throws -> Change {
    let json = try JSONValue(parsing: String(line))
    guard let record = json["record"], let name = record["recordName"]?.string,
      let type = record["recordType"]?.string, let fields = record["fields"]?.object
    else { throw UsageError("'\(line.prefix(80))…' is not an event") }
    return Change(
      event: .recordCreated, zoneID: .default,
      record: Record(
        recordID: RecordID(recordName: name), recordType: type,
        fields: RecordFields(try fields.map { ($0, try value($1)) })),
      notificationID: UUID(), timestamp: Timestamp(milliseconds: 0))
  }

  private static func value(_ json: JSONValue) throws -> RecordValue {
    switch (json["type"]?.string, json["value"]) {
    case ("STRING", .string(let text)?): return .string(text)
    case ("INT64", let number?): return .int64(number.int ?? 0)
    case ("DOUBLE", let number?): return .double(number.double ?? .nan)
    case ("TIMESTAMP", let number?):
      return .timestamp(Timestamp(milliseconds: number.int ?? 0))
    case ("STRING_LIST", .array(let values)?):
      return .list(of: .string, values.map { .string($0.string ?? "") })
    case ("LOCATION", let place?):
      return .location(
        Location(
          latitude: place["latitude"]?.double ?? .nan,
          longitude: place["longitude"]?.double ?? .nan))
    case (let type, _): throw UsageError("cannot read a value of type '\(type ?? "none")'")
    }
  }
}
