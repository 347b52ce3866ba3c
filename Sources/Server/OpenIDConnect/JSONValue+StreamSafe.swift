import CloudKitModel
import JSONCoding

extension JSONValue {
  /// Whether all texts in the value are stream-safe, so that they may be compared and hashed.
  var isStreamSafe: Bool {
    switch self {
    case .null, .bool, .int, .double: true
    case .string(let text): text.isStreamSafe
    case .array(let elements): elements.allSatisfy(\.isStreamSafe)
    case .object(let members): members.allSatisfy { $0.key.isStreamSafe && $0.value.isStreamSafe }
    }
  }
}
