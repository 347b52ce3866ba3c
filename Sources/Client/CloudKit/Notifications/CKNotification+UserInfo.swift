internal import JSONCoding

extension CKNotification {
  /// A payload's JSON as the dictionary that an app gets; nil where it is no JSON object.
  ///
  /// Foundation's own parser on Linux reads some numbers of 17 digits as another double than the one
  /// that was written; this one reads each as the record has it.
  package static func userInfo(parsing json: Data) -> [String: Any]? {
    guard case .object(let members)? = try? JSONValue(parsing: json) else { return nil }
    return userInfo(members)
  }

  static func userInfo(_ members: [String: JSONValue]) -> [String: Any] {
    members.mapValues(\.foundationValue)
  }
}

extension JSONValue {
  /// The value as Foundation's parser would give it.
  fileprivate var foundationValue: Any {
    switch self {
    case .null: NSNull()
    case .bool(let bool): NSNumber(value: bool)
    case .int(let int): NSNumber(value: int)
    case .double(let double): NSNumber(value: double)
    case .string(let string): string
    case .array(let elements): elements.map(\.foundationValue)
    case .object(let members): members.mapValues(\.foundationValue)
    }
  }
}
