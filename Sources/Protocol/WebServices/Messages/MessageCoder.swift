import CloudKitModel
import JSONCoding

/// An operation on all members of a ``MessageObject``. To code a member means to read, write or
/// describe the member.
///
/// The object's ``MessageObject/code(_:)`` passes each member to the coder. There are three coders:
/// ``MessageDecoder`` reads, ``MessageEncoder`` writes, and ``MessageDescriber`` makes the JSON
/// Schema.
package protocol MessageCoder: ~Copyable {
  /// The error of the coder: ``ServiceError`` for the decoder. The encoder and the describer never
  /// fail.
  associatedtype Failure: Error

  /// Whether the coder sets members from a message.
  static var reads: Bool { get }

  /// Codes one member. The decoder leaves `part` unchanged when the message does not have the
  /// member.
  ///
  /// - Parameters:
  ///   - others: Further names under which the member is read, in order of preference.
  ///   - rule: The rule that says whether a message has the member.
  ///   - note: The description and the limits of the member. Only the describer evaluates the note.
  mutating func member<Part: MessagePart>(
    _ name: String, or others: [String], _ part: inout Part?, _ rule: MemberRule,
    _ note: @autoclosure () -> MemberNote
  ) throws(Failure)

  /// Codes a list of a request.
  ///
  /// - Parameter count: The allowed numbers of elements. Another number is `BAD_REQUEST`.
  mutating func list<Part: MessagePart>(
    _ name: String, _ parts: inout [Part]?, count: ClosedRange<Int>, isRequired: Bool,
    _ note: @autoclosure () -> MemberNote
  ) throws(Failure)

  /// Codes the operations of a request, at most `ServiceLimits.operationsPerRequest`.
  ///
  /// An operation that cannot be read becomes a failed item, and the other operations are still
  /// read. Failed items are not written.
  mutating func operations<Part: MessagePart>(
    _ name: String, _ parts: inout [Result<Part, FailedItem>], of kind: RequestItem
  ) throws(Failure)

  /// Checks a rule for a value that was read. Only the decoder runs the check.
  ///
  /// - Parameter name: The member that the rule is about, for the error; nil for the whole object.
  func check(_ name: String?, _ rule: () throws(ModelError) -> Void) throws(Failure)
}

/// The rule that says whether a message has a member.
package enum MemberRule {
  /// Each message has the member.
  case required
  /// The member may be missing.
  case optional
  /// The member is always written, but a message that is read may lack the member.
  case written
}

/// The description of a member, and keywords of JSON Schema such as `maxLength`.
///
/// A string literal is a note without keywords.
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

  /// The note for the name of a record type or a field: its pattern and its length.
  package static var name: MemberNote {
    MemberNote(
      nil,
      [
        "pattern": "^[A-Za-z][A-Za-z0-9_]*$", "maxLength": .int(Int64(ServiceLimits.nameLength)),
      ])
  }

  package static func range(_ range: ClosedRange<Int>, _ text: String? = nil) -> MemberNote {
    MemberNote(
      text,
      ["minimum": .int(Int64(range.lowerBound)), "maximum": .int(Int64(range.upperBound))])
  }

  package static func length(_ limit: Int, _ text: String? = nil) -> MemberNote {
    MemberNote(text, ["maxLength": .int(Int64(limit))])
  }
}

extension MessageCoder where Self: ~Copyable {
  /// Codes a member that each message has. Without the member, reading fails with `BAD_REQUEST`.
  package mutating func required<Part: MessagePart>(
    _ name: String, _ part: inout Part, _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    var value: Part? = part
    try member(name, or: [], &value, .required, note())
    if let value { part = value }
  }

  /// Codes a member that may be missing. A nil value is not written.
  package mutating func optional<Part: MessagePart>(
    _ name: String, _ part: inout Part?, _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    try member(name, or: [], &part, .optional, note())
  }

  /// Codes a member that may be missing. The default value is not written.
  package mutating func optional<Part: MessagePart & Equatable>(
    _ name: String, _ part: inout Part, default standard: Part,
    _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    var value = part == standard ? nil : part
    try member(name, or: [], &value, .optional, note())
    if let value { part = value }
  }

  /// Codes a member that is always written, but that may be missing in a message that is read.
  package mutating func written<Part: MessagePart>(
    _ name: String, _ part: inout Part,
    _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    var value: Part? = part
    try member(name, or: [], &value, .written, note())
    if let value { part = value }
  }

  /// Codes a list that each request has.
  package mutating func list<Part: MessagePart>(
    _ name: String, _ parts: inout [Part], count: ClosedRange<Int>,
    _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    var list: [Part]? = parts
    try self.list(name, &list, count: count, isRequired: true, note())
    parts = list ?? []
  }

  /// Codes a text for people, which may contain any character. Use `optional` for names and IDs.
  mutating func freeText(
    _ name: String, _ text: inout String?, _ note: @autoclosure () -> MemberNote = .none
  ) throws(Failure) {
    var part = text.map { FreeText($0) }
    try member(name, or: [], &part, .optional, note())
    text = part?.text
  }

  /// Codes a list of texts that may contain any character.
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
  /// Codes the change token of an earlier answer.
  mutating func syncToken(_ token: inout String?, as name: String = "syncToken") throws(Failure) {
    try optional(
      name, &token,
      "The token from an earlier answer. If it is missing, the answer starts at the beginning.")
  }

  /// Codes the largest number of items in the answer. 0 leaves the number to the server; a negative
  /// number is `BAD_REQUEST`.
  mutating func resultsLimit(_ limit: inout Int) throws(Failure) {
    try optional(
      "resultsLimit", &limit, default: 0,
      MemberNote(
        "The largest number of items in the answer. 0 and larger numbers mean \(ServiceLimits.recordsPerPage).",
        ["minimum": 0]))
    let count = limit
    try check("resultsLimit") { () throws(ModelError) in
      guard count >= 0 else { throw ModelError(.limitExceeded, "must not be negative") }
    }
  }

  /// Codes the names of the fields that the answer has. An absent member and null mean all fields.
  mutating func desiredKeys(
    _ keys: inout Set<String>?, as name: String = "desiredKeys"
  ) throws(Failure) {
    try optional(
      name, &keys, "The fields to return. If it is missing or null, the answer has all fields.")
  }

  mutating func numbersAsStrings(_ isWanted: inout Bool) throws(Failure) {
    try optional("numbersAsStrings", &isWanted, default: false)
  }
}
