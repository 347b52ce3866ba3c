import CloudKitModel
import Foundation
import JSONCoding

/// A part of a message that is being read, with its place in the message, so that an error can say
/// where it is.
package struct MessageReader {
  private(set) var node: JSONNode
  let context: MessageContext
  /// Where the document stands that the part is from; empty for a message's own.
  private var place = ""

  /// Such as `operations[2].record`.
  var path: String {
    let path = node.path
    return place.isEmpty || path.isEmpty ? place + path : "\(place).\(path)"
  }
  /// The part with all that it holds. What reads single members and values does without.
  var json: JSONValue { node.value }

  init(_ node: JSONNode, context: MessageContext) {
    self.node = node
    self.context = context
  }

  /// A reader of an object that stands for what the message has at the other's place; nil when the
  /// value cannot be written as JSON.
  init?(_ members: [String: JSONValue], insteadOf other: MessageReader) {
    let text = JSONValue.object(members).text
    // What was written as JSON can be read, unless it is nested too deeply.
    guard let document = try? JSONDocument(parsing: Data(text.utf8)) else { return nil }
    self.init(document.root, context: other.context)
    place = other.path
  }

  /// Parses a request's or an answer's body, which must be an object.
  ///
  /// A request without a body is one without arguments.
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

  /// A mistake at this place of the message.
  func mistake(_ text: String) -> ServiceError {
    let path = path
    return ServiceError(.badRequest, path.isEmpty ? text : "\(path): \(text)")
  }

  /// The word for the kind of value, and for a number why it is no integer.
  var preciseKind: String {
    guard let double = node.double, node.int == nil else { return node.kind }
    return double == double.rounded() ? "a number beyond 64 bits" : "a number with a fraction"
  }

  // MARK: Members

  /// A reader of a value within this one.
  func part(_ node: JSONNode) -> MessageReader {
    var part = self
    part.node = node
    return part
  }

  /// The member of this name; nil when it is absent or null.
  func optional(_ key: String) throws(ServiceError) -> MessageReader? {
    guard node.isObject else { throw mistake("must be an object, not \(node.kind)") }
    guard let member = node[key] else { return nil }
    return part(member)
  }

  package func member(_ key: String) throws(ServiceError) -> MessageReader {
    guard let member = try optional(key) else { throw mistake("'\(key)' is missing") }
    return member
  }

  func elements() throws(ServiceError) -> [MessageReader] {
    guard let elements = node.elements else {
      throw mistake("must be an array, not \(node.kind)")
    }
    return elements.map(part)
  }

  /// The list of this name.
  ///
  /// - Parameter count: how many elements it may have.
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

  /// The elements of the list of this name, as many as operations a request may have.
  func operations(_ key: String) throws(ServiceError) -> MessageReader {
    try list(key, count: 0...ServiceLimits.operationsPerRequest)
  }

  // MARK: Values

  /// A name, an ID, a token or a word: any text but a record's own values and what is shown to users.
  func string() throws(ServiceError) -> String {
    let string = try freeText()
    guard !string.utf8.contains(0) else { throw mistake(ServiceError.nulRule) }
    return string
  }

  /// A text that may have any character. It is hashed and compared as Swift does it, so it must be
  /// stream-safe; a record's own values need not.
  func freeText() throws(ServiceError) -> String {
    guard let string = node.string else { throw mistake("must be a string, not \(node.kind)") }
    guard string.isStreamSafe else { throw mistake(ServiceError.markRule) }
    return string
  }

  func bool() throws(ServiceError) -> Bool {
    guard let bool = node.bool else { throw mistake("must be true or false, not \(node.kind)") }
    return bool
  }

  /// An integer, also one that is written as a string.
  func int() throws(ServiceError) -> Int64 {
    if let int = node.int ?? node.string.flatMap({ Int64($0) }) { return int }
    throw mistake("must be a whole number, not \(preciseKind)")
  }

  /// A time in milliseconds. A fraction is dropped: clients that compute with seconds send one.
  func milliseconds() throws(ServiceError) -> Int64 {
    if !node.isWhole, let double = node.double, let whole = Int64(exactly: double.rounded(.down)) {
      return whole
    }
    return try int()
  }

  /// A number, also one that is written as a string.
  func double() throws(ServiceError) -> Double {
    if let double = node.double ?? node.string.flatMap({ Double($0) }) { return double }
    throw mistake("must be a number, not \(node.kind)")
  }

  /// The string under the first of these names that is there.
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

  /// The list of strings under the first of these names that is there.
  func optionalStrings(_ keys: String...) throws(ServiceError) -> [String]? {
    for key in keys {
      guard let member = try optional(key) else { continue }
      var strings: [String] = []
      for element in try member.elements() { strings.append(try element.string()) }
      return strings
    }
    return nil
  }

  /// Runs a check of the data model; its error is reported for this place.
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
