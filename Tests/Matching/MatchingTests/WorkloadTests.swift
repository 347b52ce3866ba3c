import CloudKitModel
import Foundation
import JSONCoding
import Matching
import Testing

struct WorkloadTests {
  /// The lines of a file in `Fixtures`, whose README says where they come from.
  private func lines(_ name: String) throws -> [String] {
    let url = try #require(Bundle.module.url(forResource: "Fixtures/\(name)", withExtension: nil))
    return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test("Each event finds the subscriptions that the generator's own evaluation found")
  func workload() throws {
    var index = SubscriptionIndex()
    for line in try lines("subscriptions.jsonl") {
      let subscription = try subscription(JSONValue(parsing: line))
      index.insert(
        subscription,
        for: SubscriptionKey(subscriber: "_ann", subscriptionID: subscription.subscriptionID),
        version: 1)
    }
    #expect(index.count == 500)

    let changes = try lines("events.jsonl").map { try change(JSONValue(parsing: $0)) }
    let expected = try lines("expected.txt")
    #expect(changes.count == expected.count)
    var matches = 0
    for (change, line) in zip(changes, expected) {
      let wanted = line.split(separator: "\t").dropFirst().first?.split(separator: " ") ?? []
      let found = index.matches(change, savedBy: 1).map(\.key.subscriptionID)
      #expect(found == wanted.map(String.init), "event \(line)")
      matches += found.count
    }
    #expect(matches > 100)
  }

  private func subscription(_ json: JSONValue) throws -> Subscription {
    let filters = try #require(json["query"]?["filterBy"]?.array).map { filter in
      Filter(
        .field(try #require(filter["fieldName"]?.string)),
        try #require(
          filter["comparator"]?.string.flatMap(CloudKitModel.Comparator.init(rawValue:))),
        try value(#require(filter["fieldValue"])), distance: filter["distance"]?.double)
    }
    var options: Subscription.Options = []
    for event in try #require(json["firesOn"]?.array) {
      switch event.string {
      case "create": options.insert(.firesOnRecordCreation)
      case "update": options.insert(.firesOnRecordUpdate)
      default: options.insert(.firesOnRecordDeletion)
      }
    }
    let type = try #require(json["query"]?["recordType"]?.string)
    return Subscription(
      subscriptionID: try #require(json["subscriptionID"]?.string),
      kind: .query(Query(recordType: type, filters: filters), zoneID: nil, options: options))
  }

  private func change(_ json: JSONValue) throws -> Change {
    let record = try #require(json["record"])
    return Change(
      event: .recordCreated, zoneID: .default,
      record: Record(
        recordID: RecordID(recordName: try #require(record["recordName"]?.string)),
        recordType: try #require(record["recordType"]?.string),
        fields: RecordFields(try #require(record["fields"]?.object).map { ($0, try value($1)) })),
      notificationID: UUID(), timestamp: Timestamp(milliseconds: 0))
  }

  private func value(_ json: JSONValue) throws -> RecordValue {
    let value = try #require(json["value"])
    switch json["type"]?.string {
    case "STRING": return .string(try #require(value.string))
    case "INT64": return .int64(try #require(value.int))
    case "DOUBLE": return .double(try #require(value.double))
    case "TIMESTAMP": return .timestamp(Timestamp(milliseconds: try #require(value.int)))
    case "STRING_LIST":
      return .list(
        of: .string, try #require(value.array).map { .string(try #require($0.string)) })
    default:
      return .location(
        Location(
          latitude: try #require(value["latitude"]?.double),
          longitude: try #require(value["longitude"]?.double)))
    }
  }
}
