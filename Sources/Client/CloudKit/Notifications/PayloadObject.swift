/// An object of a push payload, in any of the forms that systems and relays hand it over.
struct PayloadObject {
  private let members: [AnyHashable: Any]

  init?(_ value: Any?) {
    guard let members = value as? [AnyHashable: Any] else { return nil }
    self.members = members
  }

  /// The names of the members that are not null.
  var keys: [String] {
    members.compactMap { $0.value is NSNull ? nil : $0.key.base as? String }
  }

  subscript(key: String) -> Any? {
    guard let value = members[key], !(value is NSNull) else { return nil }
    return value
  }

  func object(_ key: String) -> PayloadObject? { PayloadObject(self[key]) }

  func string(_ key: String) -> String? { self[key] as? String }

  func strings(_ key: String) -> [String]? {
    (self[key] as? [Any])?.map { $0 as? String ?? String(describing: $0) }
  }

  /// A number, also as text: some relays encode them so.
  func number(_ key: String) -> NSNumber? {
    if let number = self[key] as? NSNumber { return number }
    return string(key).flatMap { Double($0) }.map { NSNumber(value: $0) }
  }

  func integer(_ key: String) -> Int? {
    number(key).flatMap { Int(exactly: $0.doubleValue) }
  }
}
