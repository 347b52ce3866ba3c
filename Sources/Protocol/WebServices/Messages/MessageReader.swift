import CloudKitModel
import Foundation
import JSONCoding

/// A value of a message that is being read, with its place in the message. Errors name the place.
package struct MessageReader {
  private(set) var node: JSONNode
  let context: MessageContext
  /// The place of ``node``'s document in the message. The place is empty for the message's own
  /// document, and `other.path` after ``init(_:insteadOf:)``.
  private var place = ""

  /// The place of the value, such as `operations[2].record`; empty for the message itself.
  var path: String {
    let path = node.path
    return place.isEmpty || path.isEmpty ? place + path : "\(place).\(path)"
  }
  /// A decoded copy of the value with everything in it. Code that needs single members or values
  /// uses the methods below, which make no such copy.
  var json: JSONValue { node.value }

  package init(_ node: JSONNode, context: MessageContext) {
    self.node = node
    self.context = context
  }

  /// Creates a reader of an object that replaces the value of `other`. Errors name the place of
  /// `other`.
  ///
  /// - Returns: nil when the object cannot be written and read as JSON.
  init?(_ members: [String: JSONValue], insteadOf other: MessageReader) {
    let text = JSONValue.object(members).text
    // Written JSON can be parsed, unless it is nested too deeply.
    guard let document = try? JSONDocument(parsing: Data(text.utf8)) else { return nil }
    self.init(document.root, context: other.context)
    place = other.path
  }

  /// Parses the body of a request or an answer, which must be an object. An empty body counts as an
  /// object without members.
  ///
  /// - Throws: `BAD_REQUEST` for a text that is no JSON, and for a value that is no object.
  package init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let root: JSONNode
    do {
      root = try JSONDocument(parsing: body.isEmpty ? Data("{}".utf8) : body).root
    } catch {
      throw ServiceError(.badRequest, error.description)
    }
    guard root.isObject else {
      throw ServiceError(.badRequest, "the body must be a JSON object, not \(root.kind)")
    }
    self.init(root, context: context)
  }

  func mistake(_ text: String) -> ServiceError {
    let path = path
    return ServiceError(.badRequest, path.isEmpty ? text : "\(path): \(text)")
  }

  /// The kind of the value for errors. For a number that is no 64-bit integer, the text gives the
  /// reason.
  var preciseKind: String {
    guard let double = node.double, node.int == nil else { return node.kind }
    if double != double.rounded() { return "a number with a fraction" }
    return node.isWholeBeyond64Bits || abs(double) >= 0x1p63
      ? "a number beyond 64 bits" : "a number from 2^53 on with a fraction or an exponent"
  }

  // MARK: Members

  func part(_ node: JSONNode) -> MessageReader {
    var part = self
    part.node = node
    return part
  }

  /// Nil when the member is absent or null. Throws `BAD_REQUEST` when this value is no object.
  func optional(_ key: String) throws(ServiceError) -> MessageReader? {
    guard node.isObject else { throw mistake("must be an object, not \(node.kind)") }
    guard let member = node[key] else { return nil }
    return part(member)
  }

  /// Throws `BAD_REQUEST` when the member is absent or null, or when this value is no object.
  package func member(_ key: String) throws(ServiceError) -> MessageReader {
    guard let member = try optional(key) else { throw mistake("'\(key)' is missing") }
    return member
  }

  /// Throws `BAD_REQUEST` when this value is no array.
  func elements() throws(ServiceError) -> [MessageReader] {
    guard let elements = node.elements else {
      throw mistake("must be an array, not \(node.kind)")
    }
    return elements.map(part)
  }

  /// Returns the member with this name, which should be a list. The method does not refuse another
  /// kind of value; ``elements()`` does.
  ///
  /// - Throws: `BAD_REQUEST` when the member is missing, or the list has too few or too many
  ///   elements. For too many elements, ``ServiceError/limit`` is the largest allowed number.
  func list(_ key: String, count: ClosedRange<Int>) throws(ServiceError) -> MessageReader {
    let list = try member(key)
    guard list.node.isArray else { return list }
    let found = list.node.count
    guard found >= count.lowerBound else { throw list.mistake("must not be empty") }
    guard found <= count.upperBound else {
      var mistake = list.mistake(
        "has \(found) items; the limit is \(count.upperBound) per request")
      mistake.limit = count.upperBound
      throw mistake
    }
    return list
  }

  /// Returns the list with this name, with at most `ServiceLimits.operationsPerRequest` elements.
  func operations(_ key: String) throws(ServiceError) -> MessageReader {
    try list(key, count: 0...ServiceLimits.operationsPerRequest)
  }

  // MARK: Values

  /// Returns a text that is a name, an ID, a token or a word. Other methods read the values of
  /// records and texts for people.
  ///
  /// - Throws: `BAD_REQUEST` in the cases of ``freeText()``, and for a text with U+0000.
  func string() throws(ServiceError) -> String {
    let string = try freeText()
    guard !string.utf8.contains(0) else { throw mistake(ServiceError.nulRule) }
    return string
  }

  /// Returns the name of a record or a user, in which the caller may stand under the name of the
  /// "current owner" (``MessageContext/modelName(_:)``).
  ///
  /// - Throws: As ``string()``.
  func recordName() throws(ServiceError) -> String { context.modelName(try string()) }

  /// Returns a text that may contain any character.
  ///
  /// The text must be stream-safe (at most 30 combining marks in a row), because Swift hashes and
  /// compares other texts slowly. The strings in records are compared by their bytes and may be any
  /// text.
  ///
  /// - Throws: `BAD_REQUEST` for another kind of value, and for a text that is not stream-safe.
  func freeText() throws(ServiceError) -> String {
    guard let string = node.string else { throw mistake("must be a string, not \(node.kind)") }
    guard string.isStreamSafe else { throw mistake(ServiceError.markRule) }
    return string
  }

  /// Returns a boolean. The numbers 0 and 1 are accepted as false and true, because some clients
  /// send them.
  func bool() throws(ServiceError) -> Bool {
    guard let bool = node.bool else { throw mistake("must be true or false, not \(node.kind)") }
    return bool
  }

  func int() throws(ServiceError) -> Int64 {
    if let int = node.int ?? node.string.flatMap({ Int64($0) }) { return int }
    throw mistake("must be a whole number, not \(preciseKind)")
  }

  /// Returns a time in milliseconds. A number with a fraction is rounded down, because clients that
  /// compute with seconds send fractions.
  func milliseconds() throws(ServiceError) -> Int64 {
    // From 2^53 on, a double has no fraction.
    guard !node.isWhole, let double = node.double, abs(double) < 0x1p53 else { return try int() }
    return Int64(double.rounded(.down))
  }

  func double() throws(ServiceError) -> Double {
    if let double = node.double ?? node.string.flatMap({ Double($0) }) { return double }
    throw mistake("must be a number, not \(node.kind)")
  }

  /// Returns the string under the first of these names that the object has; nil when the object has
  /// none of the names.
  func optionalString(_ keys: String...) throws(ServiceError) -> String? {
    for key in keys {
      if let member = try optional(key) { return try member.string() }
    }
    return nil
  }

  func optionalBool(_ key: String) throws(ServiceError) -> Bool? {
    try optional(key)?.bool()
  }

  func optionalDouble(_ key: String) throws(ServiceError) -> Double? {
    try optional(key)?.double()
  }

  /// Returns the list of strings under the first of these names that the object has; nil when the
  /// object has none of the names.
  func optionalStrings(_ keys: String...) throws(ServiceError) -> [String]? {
    for key in keys {
      guard let member = try optional(key) else { continue }
      var strings: [String] = []
      for element in try member.elements() { strings.append(try element.string()) }
      return strings
    }
    return nil
  }

  /// Runs a check of the data model. If the check fails, throws `BAD_REQUEST` with the reason and
  /// this value's place in the message.
  func checked(_ check: () throws(ModelError) -> Void) throws(ServiceError) {
    do {
      try check()
    } catch {
      var mistake = mistake(error.reason)
      mistake.limit = error.limit
      throw mistake
    }
  }
}
