import Foundation
import JSONCoding

/// How the value of a setting is written, and which values are allowed.
package enum SettingKind: Sendable {
  /// What is in a file that a configuration names.
  package enum FileContents: Sendable, Hashable {
    case secret
    case certificates
  }

  case text
  /// Text that is not shown.
  case secret
  /// The name of a file, from the configuration's directory unless it is absolute.
  case file(FileContents)
  /// The name of a folder, from the same directory.
  case folder
  case whole(ClosedRange<Int64>, SettingUnit = .count)
  case number(ClosedRange<Double>, SettingUnit = .count)
  /// A number above 0.
  case positive(upTo: Double)
  case boolean
  case choice([String])
  /// Texts of one kind.
  case list(SettingElements)
  case object([ConfigurationKey])
  /// Objects by names of the operator's own.
  case named([ConfigurationKey])

  /// Any texts.
  package static let texts = SettingKind.list(
    SettingElements("list of texts", rule: "must be a list of strings") { _ in true })

  package static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ type: Choice.Type
  ) -> SettingKind {
    .choice(Choice.allCases.map(\.rawValue))
  }

  package var isPath: Bool {
    switch self {
    case .file, .folder: true
    default: false
    }
  }

  /// The keys of an object.
  package var keys: [ConfigurationKey]? {
    switch self {
    case .object(let keys), .named(let keys): keys
    default: nil
    }
  }

  /// What a value must be.
  package var rule: String {
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
    case .list(let elements): elements.rule
    case .object, .named: "must be an object"
    }
  }

  package func allows(_ value: JSONValue) -> Bool {
    switch self {
    case .text, .secret, .file, .folder: value.string != nil
    case .whole(let range, _): value.int.map(range.contains) ?? false
    case .number(let range, _): value.double.map(range.contains) ?? false
    case .positive(let most): value.double.map { $0 > 0 && $0 <= most } ?? false
    case .boolean: value.bool != nil
    case .choice(let words): value.string.map(words.contains) ?? false
    case .list(let elements): value.array?.allSatisfy(elements.allows) ?? false
    case .object, .named: value.object != nil
    }
  }

  /// What is wrong with a value, after the key's name; nil when it is allowed.
  package func complaint(about value: JSONValue) -> String? {
    if allows(value) { return nil }
    let wrong =
      switch (self, value) {
      case (.choice, .string(let word)): "'\(word)'"
      case (.whole, .int), (.whole, .double), (.number, _), (.positive, _): value.text
      case (.list(let kind), .array(let elements)):
        elements.first { !kind.allows($0) }?.text ?? value.kind
      default: value.kind
      }
    return "\(rule), not \(wrong)"
  }

  /// The value that a text stands for in a variable or an option; nil when it cannot be one of this kind.
  package func value(ofText text: String) -> JSONValue? {
    // What is no JSON is a text.
    let json = try? JSONValue(parsing: text)
    return switch self {
    case .text, .secret, .file, .folder, .choice: .string(text)
    case .whole: json?.int == nil ? nil : json
    case .number, .positive: json?.double == nil ? nil : json
    case .boolean: json?.bool == nil ? nil : json
    case .object, .named: json?.object == nil ? nil : json
    case .list:
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
