import CloudKitModel
import JSONCoding

/// A coder that collects the JSON Schemas of an object's members.
struct MessageDescriber: MessageCoder {
  static let reads = false

  /// The direction of the messages (requests or answers), and the enclosing schemas.
  private let scope: SchemaScope
  /// The schemas by name, with `?` after the names of members that may be missing.
  private var members: [String: JSONSchema] = [:]

  init(_ scope: SchemaScope) {
    self.scope = scope
  }

  /// Returns the schemas of an object's members by name. A `?` after a name marks a member that may
  /// be missing.
  static func members<Object: MessageObject>(
    of type: Object.Type, in scope: SchemaScope
  ) -> [String: JSONSchema] {
    var describer = MessageDescriber(scope)
    var value = type.blank
    value.code(&describer)
    return describer.members
  }

  /// The schema of the object. Requests may have further members, answers may not.
  var schema: JSONSchema {
    switch scope.direction {
    case .requests: .object(members, isOpen: true)
    case .answers: .object(members)
    }
  }

  private mutating func add(
    _ name: String, _ schema: JSONSchema, _ note: MemberNote, isRequired: Bool
  ) {
    var keywords = note.keywords
    keywords["description"] = note.text.map { .string($0) }
    members[isRequired ? name : name + "?"] = keywords.isEmpty ? schema : schema.with(keywords)
  }

  /// A member that is always written is required in answers and optional in requests.
  mutating func member<Part: MessagePart>(
    _ name: String, or others: [String], _ part: inout Part?, _ rule: MemberRule,
    _ note: @autoclosure () -> MemberNote
  ) {
    let isRequired =
      switch rule {
      case .required: true
      case .written: scope.direction == .answers
      case .optional: false
      }
    add(name, Part.schema(in: scope), note(), isRequired: isRequired)
  }

  mutating func list<Part: MessagePart>(
    _ name: String, _ parts: inout [Part]?, count: ClosedRange<Int>, isRequired: Bool,
    _ note: @autoclosure () -> MemberNote
  ) {
    add(name, .list(Part.schema(in: scope), count: count), note(), isRequired: isRequired)
  }

  mutating func operations<Part: MessagePart>(
    _ name: String, _ parts: inout [Result<Part, FailedItem>], of kind: RequestItem
  ) {
    let limit = ServiceLimits.operationsPerRequest
    add(name, .list(Part.schema(in: scope), count: 0...limit), .none, isRequired: true)
  }

  func check(_ name: String?, _ rule: () throws(ModelError) -> Void) {}
}
