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
