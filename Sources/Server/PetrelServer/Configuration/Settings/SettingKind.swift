import CloudKitModel
import Foundation
import JSONCoding
import OutboundHTTP

/// How the value of a setting is written, and which values are allowed.
enum SettingKind: Sendable {
  case text
  /// Text that is not shown.
  case secret
  /// The name of a file, from the configuration's directory unless it is absolute.
  case file(ConfigurationListing.FileContents)
  /// The name of a folder, from the same directory.
  case folder
  case whole(ClosedRange<Int64>, ServiceLimit.Unit = .count)
  case number(ClosedRange<Double>, ServiceLimit.Unit = .count)
  /// A number above 0.
  case positive(upTo: Double)
  case boolean
  case choice([String])
  case texts
  /// Ranges of addresses.
  case networks
  case object([ConfigurationKey])
  /// Objects by names of the operator's own.
  case named([ConfigurationKey])

  static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ type: Choice.Type
  ) -> SettingKind {
    .choice(Choice.allCases.map(\.rawValue))
  }

  var isPath: Bool {
    switch self {
    case .file, .folder: true
    default: false
    }
  }

  /// The keys of an object.
  var keys: [ConfigurationKey]? {
    switch self {
    case .object(let keys), .named(let keys): keys
    default: nil
    }
  }

  /// What a value must be.
  var rule: String {
    switch self {
    case .text, .secret, .file, .folder: "must be a string"
    case .whole(let range, _):
      "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .number(let range, let unit):
      "must be a number\(unit == .count ? "" : " of \(unit.rawValue)") "
        + "from \(range.lowerBound.plain) to \(range.upperBound.plain)"
    case .positive(let most): "must be a number above 0, at most \(most.plain)"
    case .boolean: "must be true or false"
    case .choice(let words):
      "must be "
        + (words.count == 2
          ? words.joined(separator: " or ") : "one of " + words.joined(separator: ", "))
    case .texts: "must be a list of strings"
    case .networks: "must have ranges such as 10.0.0.0/8 or fd00::/8"
    case .object, .named: "must be an object"
    }
  }

  func allows(_ value: JSONValue) -> Bool {
    switch self {
    case .text, .secret, .file, .folder: value.string != nil
    case .whole(let range, _): value.int.map(range.contains) ?? false
    case .number(let range, _): value.double.map(range.contains) ?? false
    case .positive(let most): value.double.map { $0 > 0 && $0 <= most } ?? false
    case .boolean: value.bool != nil
    case .choice(let words): value.string.map(words.contains) ?? false
    case .texts: value.array?.allSatisfy { $0.string != nil } ?? false
    case .networks: value.array?.allSatisfy(Self.isNetwork) ?? false
    case .object, .named: value.object != nil
    }
  }

  /// What is wrong with a value, after the key's name; nil when it is allowed.
  func complaint(about value: JSONValue) -> String? {
    if allows(value) { return nil }
    let wrong =
      switch (self, value) {
      case (.choice, .string(let word)): "'\(word)'"
      case (.whole, .int), (.whole, .double), (.number, _), (.positive, _): value.text
      case (.networks, .array(let elements)):
        elements.first { !Self.isNetwork($0) }?.text ?? value.kind
      default: value.kind
      }
    return "\(rule), not \(wrong)"
  }

  private static func isNetwork(_ value: JSONValue) -> Bool {
    value.string.flatMap(IPNetwork.init) != nil
  }

  /// The value that a text stands for in a variable or an option; nil when it cannot be one of this kind.
  func value(ofText text: String) -> JSONValue? {
    // What is no JSON is a text.
    let json = try? JSONValue(parsing: text)
    return switch self {
    case .text, .secret, .file, .folder, .choice: .string(text)
    case .whole: json?.int == nil ? nil : json
    case .number, .positive: json?.double == nil ? nil : json
    case .boolean: json?.bool == nil ? nil : json
    case .object, .named: json?.object == nil ? nil : json
    case .texts, .networks:
      json?.array == nil
        ? .array(
          text.split(separator: ",").map { .string($0.trimmingCharacters(in: .whitespaces)) })
        : json
    }
  }
}

extension Double {
  /// Without a point where it is whole.
  fileprivate var plain: String { Int64(exactly: self).map { "\($0)" } ?? "\(self)" }
}
