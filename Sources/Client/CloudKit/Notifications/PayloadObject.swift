/// A JSON object of a push payload. The payload may come from the system or from a program that
/// passes it on. These sources use different types for the same JSON, and the methods accept all of
/// them.
struct PayloadObject {
  /// The members, including those whose value is null.
  private let members: [AnyHashable: Any]

  init?(_ value: Any?) {
    guard let members = value as? [AnyHashable: Any] else { return nil }
    self.members = members
  }

  /// The names of the members that are not null.
  var keys: [String] {
    members.compactMap { $0.value is NSNull ? nil : $0.key.base as? String }
  }

  /// The value of a member; `nil` when it is missing or null.
  subscript(key: String) -> Any? {
    guard let value = members[key], !(value is NSNull) else { return nil }
    return value
  }

  func object(_ key: String) -> PayloadObject? { PayloadObject(self[key]) }

  func string(_ key: String) -> String? { self[key] as? String }

  /// An element that is no text becomes its description.
  func strings(_ key: String) -> [String]? {
    (self[key] as? [Any])?.map { $0 as? String ?? String(describing: $0) }
  }

  /// Returns the number in a member; `nil` for another type. A text that is a number is accepted
  /// too, because some programs encode numbers as text.
  func number(_ key: String) -> NSNumber? {
    if let number = self[key] as? NSNumber { return number }
    return string(key).flatMap { Double($0) }.map { NSNumber(value: $0) }
  }

  /// Returns the whole number in a member; `nil` for another type, for a fraction, and outside the
  /// range of `Int`.
  func integer(_ key: String) -> Int? {
    number(key).flatMap { Int(exactly: $0.doubleValue) }
  }
}
