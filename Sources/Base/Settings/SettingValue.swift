import Foundation
import JSONCoding

/// A type of property that a setting can set.
package protocol SettingValue: SendableMetatype {
  /// Returns the value that JSON stands for; `nil` for JSON of another kind.
  static func of(setting json: JSONValue) -> Self?
  /// The value as JSON; `nil` if there is no value, or if JSON cannot express the value.
  var setting: JSONValue? { get }
}

extension String: SettingValue {
  package static func of(setting json: JSONValue) -> String? { json.string }
  package var setting: JSONValue? { .string(self) }
}

extension Bool: SettingValue {
  package static func of(setting json: JSONValue) -> Bool? { json.bool }
  package var setting: JSONValue? { .bool(self) }
}

/// An integer is a whole number in JSON. For a number that does not fit the type,
/// ``SettingValue/of(setting:)`` returns `nil`.
extension SettingValue where Self: FixedWidthInteger {
  package static func of(setting json: JSONValue) -> Self? {
    json.int.flatMap { Self(exactly: $0) }
  }
  package var setting: JSONValue? { Int64(exactly: self).map { .int($0) } }
}

extension Int: SettingValue {}
extension Int64: SettingValue {}

/// A double without a fraction is written as a whole number, such as `30` for 30.0.
extension Double: SettingValue {
  package static func of(setting json: JSONValue) -> Double? { json.double }
  package var setting: JSONValue? { Int64(exactly: self).map { .int($0) } ?? .double(self) }
}

/// A file URL is its path in JSON.
extension URL: SettingValue {
  package static func of(setting json: JSONValue) -> URL? {
    json.string.map { URL(fileURLWithPath: $0) }
  }
  package var setting: JSONValue? { .string(path) }
}

/// A case of an enumeration is its raw value in JSON.
extension SettingValue where Self: RawRepresentable<String> & CaseIterable {
  package static func of(setting json: JSONValue) -> Self? {
    json.string.flatMap { Self(rawValue: $0) }
  }
  package var setting: JSONValue? { .string(rawValue) }
}

/// An array is a list of texts in JSON. ``SettingValue/of(setting:)`` skips elements that the type
/// does not accept. They cannot occur, because the setting's ``SettingKind`` refuses them before.
extension Array: SettingValue where Element: LosslessStringConvertible {
  package static func of(setting json: JSONValue) -> [Element]? {
    json.array?.compactMap { $0.string.flatMap(Element.init) }
  }
  package var setting: JSONValue? { .array(map { .string($0.description) }) }
}

/// An optional is its wrapped value in JSON; `nil` is a missing key.
extension Optional: SettingValue where Wrapped: SettingValue {
  package static func of(setting json: JSONValue) -> Wrapped?? {
    Wrapped.of(setting: json).map(Self.some)
  }
  package var setting: JSONValue? { flatMap(\.setting) }
}
