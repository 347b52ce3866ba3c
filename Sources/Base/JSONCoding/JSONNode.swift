/// A value in a ``JSONDocument``.
public struct JSONNode: Sendable {
  let document: JSONDocument
  let index: Int

  private var entry: JSONDocument.Entry { document.entries[index] }

  public var isNull: Bool { entry.kind == .null }
  public var isBool: Bool { entry.kind == .bool }
  /// Whether the value is a number that is written without fraction and exponent, and fits.
  public var isWhole: Bool { entry.kind == .int }
  public var isArray: Bool { entry.kind == .array }
  public var isObject: Bool { entry.kind == .object }

  /// The word for the kind of value, for error messages.
  public var kind: String {
    switch entry.kind {
    case .null: "null"
    case .bool: "a boolean"
    case .int, .double: "a number"
    case .string, .escapedString: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  // MARK: Single values

  public var string: String? {
    let entry = entry
    guard entry.kind == .string || entry.kind == .escapedString else { return nil }
    return document.text(of: entry)
  }

  /// The number as an integer, if it is whole.
  public var int: Int64? {
    let entry = entry
    return switch entry.kind {
    case .int: Int64(bitPattern: entry.content)
    case .double: Int64(whole: Double(bitPattern: entry.content))
    default: nil
    }
  }

  /// The number as a double.
  public var double: Double? {
    let entry = entry
    return switch entry.kind {
    case .int: Double(Int64(bitPattern: entry.content))
    case .double: Double(bitPattern: entry.content)
    default: nil
    }
  }

  /// The value as a boolean. The numbers 0 and 1 count.
  public var bool: Bool? {
    let entry = entry
    return switch entry.kind {
    case .bool, .int: entry.content == 1 ? true : entry.content == 0 ? false : nil
    default: nil
    }
  }

  // MARK: Containers

  /// How many elements or members a container has; 0 for other kinds.
  public var count: Int { isArray || isObject ? Int(entry.content) : 0 }

  /// The elements of an array; nil for other kinds.
  public var elements: [JSONNode]? {
    guard isArray else { return nil }
    var elements: [JSONNode] = []
    elements.reserveCapacity(count)
    var child = index + 1
    while child < entry.end {
      elements.append(JSONNode(document: document, index: child))
      child = Int(document.entries[child].end)
    }
    return elements
  }

  /// The member of this name, be it null; nil where there is none, and for other kinds.
  ///
  /// - Complexity: linear in the count of members.
  public func member(_ name: String) -> JSONNode? {
    guard isObject else { return nil }
    var child = index + 1
    while child < entry.end {
      let value = child + 1
      if document.isText(of: document.entries[child], equalTo: name) {
        return JSONNode(document: document, index: value)
      }
      child = Int(document.entries[value].end)
    }
    return nil
  }

  /// The member of this name; nil where there is none, where it is null, and for other kinds.
  public subscript(name: String) -> JSONNode? {
    guard let member = member(name), !member.isNull else { return nil }
    return member
  }

  /// Visits the members of an object in order, also those whose name came before.
  public func forEachMember<Failure: Error>(
    _ visit: (String, JSONNode) throws(Failure) -> Void
  ) throws(Failure) {
    guard isObject else { return }
    var child = index + 1
    while child < entry.end {
      let value = child + 1
      try visit(
        document.text(of: document.entries[child]), JSONNode(document: document, index: value))
      child = Int(document.entries[value].end)
    }
  }

  /// The value and all that it holds, decoded.
  public var value: JSONValue {
    let entry = entry
    switch entry.kind {
    case .null: return .null
    case .bool: return .bool(entry.content == 1)
    case .int: return .int(Int64(bitPattern: entry.content))
    case .double: return .double(Double(bitPattern: entry.content))
    case .string, .escapedString: return .string(document.text(of: entry))
    case .array: return .array((elements ?? []).map(\.value))
    case .object:
      var members: [String: JSONValue] = [:]
      members.reserveCapacity(count)
      forEachMember { name, member in
        if members[name] == nil { members[name] = member.value }
      }
      return .object(members)
    }
  }

  /// Where the value stands in the document, such as `operations[2].record`; empty for the root.
  public var path: String {
    var path = ""
    var container = 0
    while container != index {
      let isObject = document.entries[container].kind == .object
      var child = container + 1
      var number = 0
      var name = child
      if isObject { child += 1 }
      while document.entries[child].end <= index {
        name = Int(document.entries[child].end)
        child = isObject ? name + 1 : name
        number += 1
      }
      if isObject {
        if !path.isEmpty { path += "." }
        path += document.text(of: document.entries[name])
      } else {
        path += "[\(number)]"
      }
      container = child
    }
    return path
  }
}

extension JSONDocument {
  fileprivate func text(of entry: Entry) -> String {
    bytes.withUnsafeBufferPointer { bytes in
      let raw = UnsafeBufferPointer(rebasing: bytes[range(of: entry)])
      return entry.kind == .string
        ? String(decoding: raw, as: UTF8.self)
        : String(decoding: Self.unescaped(raw), as: UTF8.self)
    }
  }

  fileprivate func isText(of entry: Entry, equalTo name: String) -> Bool {
    guard entry.kind == .string else { return text(of: entry).utf8.elementsEqual(name.utf8) }
    guard name.utf8.count == Int(entry.content) else { return false }
    return bytes.withUnsafeBufferPointer { bytes in
      let start = Int(entry.start)
      var offset = 0
      for byte in name.utf8 {
        guard bytes[start + offset] == byte else { return false }
        offset += 1
      }
      return true
    }
  }

  private func range(of entry: Entry) -> Range<Int> {
    Int(entry.start)..<(Int(entry.start) + Int(entry.content))
  }

  private static func unescaped(_ raw: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(raw.count)
    var position = 0
    while position < raw.count {
      if raw[position] == UInt8(ascii: "\\"), let escape = JSONEscape(raw[position...]) {
        text.append(contentsOf: UTF8.encode(escape.scalar) ?? .init())
        position += escape.length
      } else {
        text.append(raw[position])
        position += 1
      }
    }
    return text
  }
}
