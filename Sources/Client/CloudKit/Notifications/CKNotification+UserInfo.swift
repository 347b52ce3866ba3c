internal import JSONCoding

extension CKNotification {
  /// Converts the JSON of a payload to the dictionary that an app gets; `nil` when the JSON is invalid or no object.
  ///
  /// Foundation's parser on Linux reads some numbers with 17 digits as a slightly different double. The parser of this
  /// project reads each number exactly as the record has it.
  package static func userInfo(parsing json: Data) -> [String: Any]? {
    guard case .object(let members)? = try? JSONValue(parsing: json) else { return nil }
    return userInfo(members)
  }

  static func userInfo(_ members: [String: JSONValue]) -> [String: Any] {
    members.mapValues(\.foundationValue)
  }
}

extension JSONValue {
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
