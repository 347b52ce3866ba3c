import CloudKitModel
import Foundation
import JSONCoding

/// A part of a message that is being read, with its place in the message, so that an error can say
/// where it is.
struct MessageReader {
  let json: JSONValue
  /// Such as `operations[2].record`.
  let path: String
  let context: MessageContext

  init(_ json: JSONValue, path: String = "", context: MessageContext) {
    self.json = json
    self.path = path
    self.context = context
  }

  /// Parses a request's or an answer's body, which must be an object.
  ///
  /// A request without a body is one without arguments.
  init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    guard !body.isEmpty else {
      self.init(.object([:]), context: context)
      return
    }
    let json: JSONValue
    do {
      json = try JSONValue(parsing: body)
    } catch {
      throw ServiceError(.badRequest, error.description)
    }
    guard case .object = json else {
      throw ServiceError(.badRequest, "the body must be a JSON object, not \(json.kind)")
    }
    self.init(json, context: context)
  }

  /// A mistake at this place of the message.
  func mistake(_ text: String) -> ServiceError {
    ServiceError(.badRequest, path.isEmpty ? text : "\(path): \(text)")
  }

  /// The word for the kind of value, and for a number why it is no integer.
  var preciseKind: String {
    guard case .double(let double) = json, json.int == nil else { return json.kind }
    return double == double.rounded() ? "a number beyond 64 bits" : "a number with a fraction"
  }

  // MARK: Members

  /// The member of this name; nil when it is absent or null.
  func optional(_ key: String) throws(ServiceError) -> MessageReader? {
    guard case .object = json else { throw mistake("must be an object, not \(json.kind)") }
    guard let value = json[key] else { return nil }
    return MessageReader(value, path: path.isEmpty ? key : "\(path).\(key)", context: context)
  }

  func member(_ key: String) throws(ServiceError) -> MessageReader {
    guard let member = try optional(key) else { throw mistake("'\(key)' is missing") }
    return member
  }

  func elements() throws(ServiceError) -> [MessageReader] {
    guard case .array(let array) = json else {
      throw mistake("must be an array, not \(json.kind)")
    }
    return array.enumerated().map { index, element in
      MessageReader(element, path: "\(path)[\(index)]", context: context)
    }
  }

  // MARK: Values

  func string() throws(ServiceError) -> String {
    guard let string = json.string else { throw mistake("must be a string, not \(json.kind)") }
    return string
  }

  func bool() throws(ServiceError) -> Bool {
    guard let bool = json.bool else { throw mistake("must be true or false, not \(json.kind)") }
    return bool
  }

  /// An integer, also one that is written as a string.
  func int() throws(ServiceError) -> Int64 {
    if let int = json.int ?? json.string.flatMap({ Int64($0) }) { return int }
    throw mistake("must be a whole number, not \(preciseKind)")
  }

  /// A time in milliseconds. A fraction is dropped: clients that compute with seconds send one.
  func milliseconds() throws(ServiceError) -> Int64 {
    if case .double(let double) = json, let whole = Int64(exactly: double.rounded(.down)) {
      return whole
    }
    return try int()
  }

  /// A number, also one that is written as a string.
  func double() throws(ServiceError) -> Double {
    if let double = json.double ?? json.string.flatMap({ Double($0) }) { return double }
    throw mistake("must be a number, not \(json.kind)")
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

  func optionalInt(_ key: String) throws(ServiceError) -> Int? {
    guard let int = try optional(key)?.int() else { return nil }
    return Int(int)
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
