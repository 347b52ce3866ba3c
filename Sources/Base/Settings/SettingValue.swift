import Foundation
import JSONCoding

/// A type of property that a setting can set.
package protocol SettingValue: SendableMetatype {
  /// Returns the value of JSON; `nil` for JSON of another kind.
  static func of(setting json: JSONValue) -> Self?
  /// The value as JSON; `nil` if there is none.
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

extension SettingValue where Self: FixedWidthInteger {
  package static func of(setting json: JSONValue) -> Self? {
    json.int.flatMap { Self(exactly: $0) }
  }
  package var setting: JSONValue? { Int64(exactly: self).map { .int($0) } }
}

extension Int: SettingValue {}
extension Int64: SettingValue {}

extension Double: SettingValue {
  package static func of(setting json: JSONValue) -> Double? { json.double }
  package var setting: JSONValue? { Int64(exactly: self).map { .int($0) } ?? .double(self) }
}

extension URL: SettingValue {
  package static func of(setting json: JSONValue) -> URL? {
    json.string.map { URL(fileURLWithPath: $0) }
  }
  package var setting: JSONValue? { .string(path) }
}

extension SettingValue where Self: RawRepresentable<String> & CaseIterable {
  package static func of(setting json: JSONValue) -> Self? {
    json.string.flatMap { Self(rawValue: $0) }
  }
  package var setting: JSONValue? { .string(rawValue) }
}

extension Array: SettingValue where Element: LosslessStringConvertible {
  package static func of(setting json: JSONValue) -> [Element]? {
    json.array?.compactMap { $0.string.flatMap(Element.init) }
  }
  package var setting: JSONValue? { .array(map { .string($0.description) }) }
}

extension Optional: SettingValue where Wrapped: SettingValue {
  package static func of(setting json: JSONValue) -> Wrapped?? {
    Wrapped.of(setting: json).map(Self.some)
  }
  package var setting: JSONValue? { flatMap(\.setting) }
}
