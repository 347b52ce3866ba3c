import CloudKitModel
import JSONCoding

/// A coder that writes the members of an object into a message.
struct MessageEncoder: MessageCoder, ~Copyable {
  static let reads = false

  /// The writer, which has begun the object. The encoder owns the writer while the members are
  /// written.
  var writer: JSONWriter
  let context: MessageContext

  mutating func member<Part: MessagePart>(
    _ name: String, or others: [String], _ part: inout Part?, _ rule: MemberRule,
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

  /// Writes the operations, without the failed items.
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
