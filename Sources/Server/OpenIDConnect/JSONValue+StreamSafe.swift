import CloudKitModel
import JSONCoding

extension JSONValue {
  /// Whether all texts in the value are stream-safe: no text has more than 30 combining characters
  /// in a row (Unicode Standard Annex #15). To compare or hash other texts can take very long.
  var isStreamSafe: Bool {
    switch self {
    case .null, .bool, .int, .double: true
    case .string(let text): text.isStreamSafe
    case .array(let elements): elements.allSatisfy(\.isStreamSafe)
    case .object(let members): members.allSatisfy { $0.key.isStreamSafe && $0.value.isStreamSafe }
    }
  }
}
