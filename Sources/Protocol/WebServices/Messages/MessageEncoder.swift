import CloudKitModel
import JSONCoding

/// Writes the members.
struct MessageEncoder: MessageCoder, ~Copyable {
  static let reads = false

  var writer: JSONWriter
  let context: MessageContext

  mutating func member<Part: MessagePart>(
    _ name: String, or others: [String], _ part: inout Part?, _ presence: MemberPresence,
    _ note: @autoclosure () -> MemberNote
  ) {
    guard let part else { return }
    writer.key(name)
    part.write(to: &writer, context: context)
  }

  mutating func list<Part: MessagePart>(
    _ name: String, _ parts: inout [Part]?, count: ClosedRange<Int>, isRequired: Bool,
    _ note: @autoclosure () -> MemberNote
  ) {
    guard let parts else { return }
    writer.key(name)
    parts.write(to: &writer, context: context)
  }

  mutating func operations<Part: MessagePart>(
    _ name: String, _ parts: inout [Result<Part, FailedItem>], of kind: RequestItem
  ) {
    writer.key(name)
    writer.array { writer in
      for case .success(let part) in parts { part.write(to: &writer, context: context) }
    }
  }

  func check(_ name: String?, _ rule: () throws(ModelError) -> Void) {}
}
