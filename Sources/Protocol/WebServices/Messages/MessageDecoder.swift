import CloudKitModel
import JSONCoding

/// A coder that reads the members of an object from a message.
struct MessageDecoder: MessageCoder {
  static let reads = true

  private let reader: MessageReader

  init(_ reader: MessageReader) {
    self.reader = reader
  }

  /// Reads the member under the first of its names that the message has. `null` counts as absent.
  mutating func member<Part: MessagePart>(
    _ name: String, or others: [String], _ part: inout Part?, _ rule: MemberRule,
    _ note: @autoclosure () -> MemberNote
  ) throws(ServiceError) {
    var found = try reader.optional(name)
    for other in others where found == nil { found = try reader.optional(other) }
    if let found {
      part = try Part(found)
    } else if rule == .required {
      throw reader.mistake("'\(name)' is missing")
    }
  }

  mutating func list<Part: MessagePart>(
    _ name: String, _ parts: inout [Part]?, count: ClosedRange<Int>, isRequired: Bool,
    _ note: @autoclosure () -> MemberNote
  ) throws(ServiceError) {
    if !isRequired, try reader.optional(name) == nil { return }
    parts = try [Part](try reader.list(name, count: count))
  }

  /// Reads each operation separately.
  ///
  /// - Throws: `BAD_REQUEST` when the list is missing, is no list, or has too many elements. An
  ///   operation that cannot be read does not throw.
  mutating func operations<Part: MessagePart>(
    _ name: String, _ parts: inout [Result<Part, FailedItem>], of kind: RequestItem
  ) throws(ServiceError) {
    parts = try reader.list(name, count: 0...ServiceLimits.operationsPerRequest)
      .items(of: kind) { (element) throws(ServiceError) in try Part(element) }
  }

  /// Runs the check. If `name` is a member that the message does not have, the rule is not checked.
  func check(_ name: String?, _ rule: () throws(ModelError) -> Void) throws(ServiceError) {
    guard let name else { return try reader.checked(rule) }
    try reader.optional(name)?.checked(rule)
  }
}
