import Foundation
import JSONCoding
import OpenIDConnect

/// A type of the properties that settings set.
protocol SettingValue: SendableMetatype {
  /// Nil for JSON of another kind.
  static func of(setting json: JSONValue) -> Self?
  /// Nil where there is no value.
  var setting: JSONValue? { get }
}

extension String: SettingValue {
  static func of(setting json: JSONValue) -> String? { json.string }
  var setting: JSONValue? { .string(self) }
}

extension Bool: SettingValue {
  static func of(setting json: JSONValue) -> Bool? { json.bool }
  var setting: JSONValue? { .bool(self) }
}

extension SettingValue where Self: FixedWidthInteger {
  static func of(setting json: JSONValue) -> Self? { json.int.flatMap { Self(exactly: $0) } }
  var setting: JSONValue? { Int64(exactly: self).map { .int($0) } }
}

extension Int: SettingValue {}
extension Int64: SettingValue {}

extension Double: SettingValue {
  static func of(setting json: JSONValue) -> Double? { json.double }
  var setting: JSONValue? { Int64(exactly: self).map { .int($0) } ?? .double(self) }
}

extension URL: SettingValue {
  static func of(setting json: JSONValue) -> URL? { json.string.map { URL(fileURLWithPath: $0) } }
  var setting: JSONValue? { .string(path) }
}

extension SettingValue where Self: RawRepresentable<String> & CaseIterable {
  static func of(setting json: JSONValue) -> Self? { json.string.flatMap { Self(rawValue: $0) } }
  var setting: JSONValue? { .string(rawValue) }
}

extension ServerConfiguration.ProductionSchema: SettingValue {}
extension ServerLog.Level: SettingValue {}
extension ServerLog.Format: SettingValue {}
extension IssuerSettings.ResponseMode: SettingValue {}

extension Array: SettingValue where Element: LosslessStringConvertible {
  static func of(setting json: JSONValue) -> [Element]? {
    json.array?.compactMap { $0.string.flatMap(Element.init) }
  }
  var setting: JSONValue? { .array(map { .string($0.description) }) }
}

extension Optional: SettingValue where Wrapped: SettingValue {
  static func of(setting json: JSONValue) -> Wrapped?? { Wrapped.of(setting: json).map(Self.some) }
  var setting: JSONValue? { flatMap(\.setting) }
}
