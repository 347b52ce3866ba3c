import Foundation
import JSONCoding

/// The kind of a setting's value in JSON, with the values that are allowed.
package enum SettingKind: Sendable {
  /// The kind of contents of a file that a configuration names.
  package enum FileContents: Sendable, Hashable {
    case secret
    /// Certificates in PEM.
    case certificates
  }

  case text
  /// The URL of a web server, in text form, with any path.
  case webURL
  /// A secret text. `petrel config` shows "(not shown)" in its place.
  case secret
  /// The name of a file. A relative name refers to the folder of the configuration file.
  case file(FileContents)
  /// The name of a folder. A relative name refers to the folder of the configuration file.
  case folder
  case whole(ClosedRange<Int64>, SettingUnit = .count)
  case number(ClosedRange<Double>, SettingUnit = .count)
  /// A number greater than 0 and at most the limit.
  case positive(upTo: Double)
  case boolean
  case choice([String])
  case list(SettingElements)
  case object([ConfigurationKey])
  /// An object whose members, with these keys, have names that the operator chooses.
  case named([ConfigurationKey])

  package static let texts = SettingKind.list(
    SettingElements("list of texts", rule: "must be a list of strings") { _ in true })

  /// Returns the kind whose values are the raw values of an enumeration.
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

  package var keys: [ConfigurationKey]? {
    switch self {
    case .object(let keys), .named(let keys): keys
    default: nil
    }
  }

  /// The rule for a value, as the end of a sentence, such as "must be true or false".
  package var rule: String {
    switch self {
    case .text, .secret, .file, .folder: "must be a string"
    case .webURL:
      "must be a URL with https:// or http:// and a host, such as https://cloud.example.com"
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

  /// Whether the value is of this kind and allowed. The members of an object are not checked here.
  package func allows(_ value: JSONValue) -> Bool {
    switch self {
    case .text, .secret, .file, .folder: value.string != nil
    case .webURL: value.string.map { Self.rule(brokenByWebURL: $0) == nil } ?? false
    case .whole(let range, _): value.int.map(range.contains) ?? false
    case .number(let range, _): value.double.map(range.contains) ?? false
    case .positive(let most): value.double.map { $0 > 0 && $0 <= most } ?? false
    case .boolean: value.bool != nil
    case .choice(let words): value.string.map(words.contains) ?? false
    case .list(let elements): value.array?.allSatisfy(elements.allows) ?? false
    case .object, .named: value.object != nil
    }
  }

  /// Returns the end of a sentence, such as "must be a string, not a number"; `nil` if allowed.
  package func complaint(about value: JSONValue) -> String? {
    if allows(value) { return nil }
    if case .webURL = self, let text = value.string {
      return Self.rule(brokenByWebURL: text).map { "\($0), not '\(text)'" }
    }
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

  /// Converts the text of a variable or an option to a value; `nil` when the text cannot be of this
  /// kind. A list may be written in JSON, or as texts with commas between them. ``allows(_:)``
  /// checks the value.
  package func value(ofText text: String) -> JSONValue? {
    // A text that is not JSON may still be a plain text or a list.
    let json = try? JSONValue(parsing: text)
    return switch self {
    case .text, .webURL, .secret, .file, .folder, .choice: .string(text)
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
  /// The number, without a point if it is whole.
  fileprivate var plain: String { Int64(exactly: self).map { "\($0)" } ?? "\(self)" }
}
