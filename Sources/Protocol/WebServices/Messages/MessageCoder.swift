import CloudKitModel
import JSONCoding

/// Reads, writes or describes the members of a ``MessageObject``, which names them one by one.
package protocol MessageCoder: ~Copyable {
  associatedtype Failure: Error

  /// Whether the members are read.
  static var reads: Bool { get }

  /// A member. Where a message that is read has it not, `part` stays as it is.
  ///
  /// - Parameters:
  ///   - others: further names under which the member is read.
  ///   - note: what the description says of the member.
  mutating func member<Part: MessagePart>(
    _ name: String, or others: [String], _ part: inout Part?, _ presence: MemberPresence,
    _ note: @autoclosure () -> MemberNote
  ) throws(Failure)

  /// A list of a request that may have so many elements.
  mutating func list<Part: MessagePart>(
    _ name: String, _ parts: inout [Part]?, count: ClosedRange<Int>, isRequired: Bool,
    _ note: @autoclosure () -> MemberNote
  ) throws(Failure)

  /// The operations of a request. One that cannot be read becomes a failed item and leaves the others alone;
  /// failed items are not written.
  mutating func operations<Part: MessagePart>(
    _ name: String, _ parts: inout [Result<Part, FailedItem>], of kind: RequestItem
  ) throws(Failure)

  /// A rule that a value which is read must keep.
  ///
  /// - Parameter name: the member that the rule is about; nil for the object.
  func check(_ name: String?, _ rule: () throws(ModelError) -> Void) throws(Failure)
}

/// Whether a member is there.
package enum MemberPresence {
  case required
  case optional
  /// Always written, and may be missing where it is read.
  case written
}

/// What the description says of a member: a sentence, and keywords of JSON Schema.
package struct MemberNote: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  var text: String?
  var keywords: [String: JSONValue]

  package init(_ text: String? = nil, _ keywords: [String: JSONValue] = [:]) {
    self.text = text
    self.keywords = keywords
  }

  package init(stringLiteral text: String) {
    self.init(text)
  }

  package static var none: MemberNote { MemberNote() }

  /// The name of a record type or of a field.
  package static var name: MemberNote {
    MemberNote(
      nil,
      [
        "pattern": "^[A-Za-z][A-Za-z0-9_]*$", "maxLength": .int(Int64(ServiceLimits.nameLength)),
      ])
  }

  /// A number within a range.
  package static func range(_ range: ClosedRange<Int>, _ text: String? = nil) -> MemberNote {
    MemberNote(
      text,
      ["minimum": .int(Int64(range.lowerBound)), "maximum": .int(Int64(range.upperBound))])
  }

  /// A text of so many characters at most.
  package static func length(_ limit: Int, _ text: String? = nil) -> MemberNote {
    MemberNote(text, ["maxLength": .int(Int64(limit))])
  }
}

extension MessageCoder where Self: ~Copyable {
  /// A member that each message has.
  package mutating func required<Part: MessagePart>(
    _ name: String, _ part: inout Part, _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    var value: Part? = part
    try member(name, or: [], &value, .required, note())
    if let value { part = value }
  }

  /// A member that may be missing.
  package mutating func optional<Part: MessagePart>(
    _ name: String, _ part: inout Part?, _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    try member(name, or: [], &part, .optional, note())
  }

  /// A member that is not written where it is the default.
  package mutating func optional<Part: MessagePart & Equatable>(
    _ name: String, _ part: inout Part, default standard: Part,
    _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    var value = part == standard ? nil : part
    try member(name, or: [], &value, .optional, note())
    if let value { part = value }
  }

  /// A member that is always written, and may be missing where it is read.
  package mutating func written<Part: MessagePart>(
    _ name: String, _ part: inout Part,
    _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    var value: Part? = part
    try member(name, or: [], &value, .written, note())
    if let value { part = value }
  }

  /// A list that each request has.
  package mutating func list<Part: MessagePart>(
    _ name: String, _ parts: inout [Part], count: ClosedRange<Int>,
    _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    var list: [Part]? = parts
    try self.list(name, &list, count: count, isRequired: true, note())
    parts = list ?? []
  }

  /// A text that may have any character.
  mutating func freeText(
    _ name: String, _ text: inout String?, _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    var part = text.map { FreeText($0) }
    try member(name, or: [], &part, .optional, note())
    text = part?.text
  }

  mutating func freeTexts(
    _ name: String, _ texts: inout [String]?, _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    var parts = texts?.map { FreeText($0) }
    try member(name, or: [], &parts, .optional, note())
    texts = parts?.map(\.text)
  }
}

// MARK: Members that several messages have

extension MessageCoder where Self: ~Copyable {
  /// The token of an earlier answer.
  ///
  /// - Parameter name: another name of the member.
  mutating func syncToken(_ token: inout String?, as name: String = "syncToken") throws(Failure) {
    try optional(name, &token, "The token of an earlier answer; absent at the beginning.")
  }

  /// Items in the answer at most.
  mutating func resultsLimit(_ limit: inout Int) throws(Failure) {
    try optional(
      "resultsLimit", &limit, default: 0,
      MemberNote(
        "Items in the answer at most. 0 stands for \(ServiceLimits.recordsPerPage), and so does more.",
        ["minimum": 0]))
    let count = limit
    try check("resultsLimit") { () throws(ModelError) in
      guard count >= 0 else { throw ModelError(.limitExceeded, "must not be negative") }
    }
  }

  /// The fields that an answer has.
  mutating func desiredKeys(
    _ keys: inout Set<String>?, as name: String = "desiredKeys"
  ) throws(Failure) {
    try optional(name, &keys, "The fields that the answer has. Absent and null mean all of them.")
  }

  /// Whether integers and doubles of the answer are strings.
  mutating func numbersAsStrings(_ isWanted: inout Bool) throws(Failure) {
    try optional("numbersAsStrings", &isWanted, default: false)
  }
}

// MARK: Coders

/// Reads the members.
struct MessageDecoder: MessageCoder {
  static let reads = true

  private let reader: MessageReader

  init(_ reader: MessageReader) {
    self.reader = reader
  }

  mutating func member<Part: MessagePart>(
    _ name: String, or others: [String], _ part: inout Part?, _ presence: MemberPresence,
    _ note: @autoclosure () -> MemberNote
  ) throws(ServiceError) {
    var found = try reader.optional(name)
    for other in others where found == nil { found = try reader.optional(other) }
    if let found {
      part = try Part(found)
    } else if presence == .required {
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

  mutating func operations<Part: MessagePart>(
    _ name: String, _ parts: inout [Result<Part, FailedItem>], of kind: RequestItem
  ) throws(ServiceError) {
    parts = try reader.list(name, count: 0...ServiceLimits.operationsPerRequest)
      .items(of: kind) { (element) throws(ServiceError) in try Part(element) }
  }

  func check(_ name: String?, _ rule: () throws(ModelError) -> Void) throws(ServiceError) {
    guard let name else { return try reader.checked(rule) }
    try reader.optional(name)?.checked(rule)
  }
}

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

/// Describes the members.
struct MessageDescriber: MessageCoder {
  static let reads = false

  private let scope: SchemaScope
  private var members: [String: JSONSchema] = [:]

  init(_ scope: SchemaScope) {
    self.scope = scope
  }

  /// The shapes of an object's members by name, with a `?` behind the names of those that may be missing.
  static func members<Object: MessageObject>(
    of type: Object.Type, in scope: SchemaScope
  ) -> [String: JSONSchema] {
    var describer = MessageDescriber(scope)
    var value = type.blank
    value.code(&describer)
    return describer.members
  }

  /// The shape of the object.
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

  mutating func member<Part: MessagePart>(
    _ name: String, or others: [String], _ part: inout Part?, _ presence: MemberPresence,
    _ note: @autoclosure () -> MemberNote
  ) {
    let isRequired =
      switch presence {
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
