import CloudKit
import JSONCoding
import PropertyTesting

/// Lines of records with fields of every type, as an export has them.
struct GeneratedRecords {
  private var generator: SeededGenerator
  private static let zones = ["_defaultZone", "Work", "Home & garden"]

  init(seed: Int) { generator = SeededGenerator(seed: seed) }

  mutating func lines(count: Int) -> [String] {
    (0..<count).map { number in
      let zone = generator.pick(Self.zones)
      var record: [String: JSONValue] = [
        "recordName": .string("r\(number)"), "recordType": .string("Type\(number % 3)"),
        "zoneID": ["zoneName": .string(zone)], "fields": .object(fields(zone: zone)),
      ]
      // A parent has to be in its child's zone, which the last one of the same may not be.
      if let parent = parents[zone], zone != "_defaultZone", generator.chance(1, in: 3) {
        record["parent"] = ["recordName": .string(parent), "zoneID": ["zoneName": .string(zone)]]
      }
      parents[zone] = "r\(number)"
      return JSONValue.object(record).text
    }
  }

  /// The last record of each zone.
  private var parents: [String: String] = [:]

  private mutating func fields(zone: String) -> [String: JSONValue] {
    var fields: [String: JSONValue] = [:]
    for type in ["STRING", "INT64", "DOUBLE", "TIMESTAMP", "BYTES", "LOCATION", "REFERENCE"] {
      if generator.chance(2, in: 3) {
        fields["a\(type)"] = ["type": .string(type), "value": value(type, zone)]
      }
      if generator.chance(1, in: 3) {
        let count = Int.random(in: 0...4, using: &generator)
        let values = (0..<count).map { _ in value(type, zone) }
        fields["list\(type)"] = ["type": .string(type + "_LIST"), "value": .array(values)]
      }
    }
    if generator.chance(1, in: 4) {
      fields["secret"] = [
        "type": "STRING", "value": value("STRING", zone), "isEncrypted": true,
      ]
    }
    return fields
  }

  private mutating func value(_ type: String, _ zone: String) -> JSONValue {
    switch type {
    case "STRING":
      return .string(
        generator.pick(["", "Milk", "a \"b\" \\ c", "Größe\n日本", "👩‍👩‍👧 \u{202E}x", "\u{1}"]))
    case "INT64":
      return .int(generator.pick([0, -1, .max, .min, Int64(bitPattern: generator.next())]))
    case "DOUBLE":
      return .double(
        generator.pick([0.5, -1e300, 5, Double.random(in: -1...1, using: &generator)]))
    case "TIMESTAMP":
      return .int(Int64.random(in: -1_000_000_000_000...4_000_000_000_000, using: &generator))
    case "BYTES":
      let count = Int.random(in: 0...40, using: &generator)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      return .string(Data(bytes).base64EncodedString())
    case "LOCATION":
      return [
        "latitude": .double(Double.random(in: -90...90, using: &generator)),
        "longitude": .double(Double.random(in: -180...180, using: &generator)),
      ]
    default:
      return [
        "action": "NONE", "recordName": .string("r\(Int.random(in: 0...999, using: &generator))"),
        "zoneID": ["zoneName": .string(zone)],
      ]
    }
  }
}
