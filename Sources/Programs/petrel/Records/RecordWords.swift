import CloudKitModel
import CommandInterface
import Foundation
import JSONCoding

/// A reader of record fields from words of a command, such as `title=Milk count=3`.
///
/// The schema gives the type of each field. A field that is not in the schema needs its type:
/// `count:INT64=3`.
struct RecordWords {
  private let recordType: String
  private var types: [String: String] = [:]

  /// Creates the reader for a record type.
  init(type: String, schema: JSONValue) {
    recordType = type
    let found = schema["recordTypes"]?.array?.first { $0["recordType"]?.string == type }
    for field in found?["fields"]?.array ?? [] {
      guard let name = field["name"]?.string else { continue }
      types[name] = field["type"]?.string
    }
  }

  /// Returns the fields in the format of CloudKit Web Services.
  ///
  /// - Throws: `UsageError` with the word and the rule that it violates.
  func fields(_ words: some Sequence<String>) throws(UsageError) -> [String: JSONValue] {
    var fields: [String: JSONValue] = [:]
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw UsageError("'\(word)' must be FIELD=VALUE")
      }
      let name = parts[0].split(separator: ":", maxSplits: 1).map(String.init)
      guard let type = name.count == 2 ? name[1].uppercased() : types[name[0]] else {
        throw UsageError(
          "record type '\(recordType)' has no field '\(name[0])' yet; write its type too, such as "
            + "\(name[0]):STRING=\(parts[1])")
      }
      let field = try Self.field(String(parts[1]), type: type, named: name[0])
      guard fields.updateValue(field, forKey: name[0]) == nil else {
        throw UsageError("the field '\(name[0])' is given twice")
      }
    }
    return fields
  }

  /// Returns the field with a value. The field is marked as encrypted if the type begins with
  /// `ENCRYPTED `.
  private static func field(
    _ text: String, type: String, named name: String
  ) throws(UsageError) -> JSONValue {
    let isEncrypted = type.hasPrefix("ENCRYPTED ")
    let type = isEncrypted ? String(type.dropFirst(10)) : type
    guard let value = try value(text, type: type, named: name) else {
      throw UsageError("'\(name)': '\(text)' is not a value of type \(type)")
    }
    var field: [String: JSONValue] = ["value": value.json, "type": .string(value.type)]
    if isEncrypted { field["isEncrypted"] = true }
    return .object(field)
  }

  /// Returns the JSON of a value and its type; `nil` if the text is no value of that type.
  ///
  /// - Throws: `UsageError` for a type that words cannot express, such as a list.
  private static func value(
    _ text: String, type: String, named name: String
  ) throws(UsageError) -> (json: JSONValue, type: String)? {
    switch type {
    case "STRING": return (.string(text), type)
    case "INT64": return Int64(text).map { (.int($0), type) }
    case "DOUBLE":
      // JSON has no infinities; the server accepts them as strings.
      return Double(text).map { ($0.isFinite ? .double($0) : .string($0.description), type) }
    case "TIMESTAMP": return time(text).map { (.int($0), type) }
    case "BYTES": return Data(base64Encoded: text).map { _ in (.string(text), type) }
    case "REFERENCE":
      return (["recordName": .string(text), "action": "NONE"], type)
    case "LOCATION":
      let numbers = text.split(separator: ",").map {
        Double($0.trimmingCharacters(in: .whitespaces))
      }
      guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1] else {
        return nil
      }
      return (["latitude": .double(latitude), "longitude": .double(longitude)], type)
    default:
      throw UsageError(
        "'\(name)' has the type \(type), which needs JSON; give the record as JSON with --file")
    }
  }

  /// Returns a time in milliseconds since 1970. The text is that number, or a date such as
  /// `2026-03-01T08:07:09Z` or `2026-03-01`; the result is `nil` for other texts.
  private static func time(_ text: String) -> Int64? {
    if let milliseconds = Int64(text) { return milliseconds }
    let forms: [Date.ISO8601FormatStyle] = [
      .init(includingFractionalSeconds: true), .init(), .init().year().month().day(),
    ]
    // The first format that parses the text counts.
    let date = forms.lazy.compactMap { try? $0.parse(text) }.first
    return date.map { Int64(($0.timeIntervalSince1970 * 1_000).rounded()) }
  }
}
