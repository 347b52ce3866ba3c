/// A value in a ``JSONDocument``. A node has only a reference to the document and an index, so
/// copies are cheap.
public struct JSONNode: Sendable {
  let document: JSONDocument
  /// The index of the value's entry in ``JSONDocument/entries``.
  let index: Int

  private var entry: JSONDocument.Entry { document.entries[index] }

  /// Whether the value is null.
  public var isNull: Bool { entry.kind == .null }
  /// Whether the value is a boolean: true or false.
  public var isBool: Bool { entry.kind == .bool }
  /// Whether the value is a number without fraction and exponent that fits `Int64`.
  public var isWhole: Bool { entry.kind == .int }
  /// Whether the value is a number without fraction and exponent that does not fit `Int64`.
  public var isWholeBeyond64Bits: Bool {
    let entry = entry
    guard entry.kind == .double else { return false }
    let end = document.bytes[(Int(entry.start) + 1)...].first {
      !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
    return ![UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(end)
  }
  /// Whether the value is an array.
  public var isArray: Bool { entry.kind == .array }
  /// Whether the value is an object.
  public var isObject: Bool { entry.kind == .object }

  /// The kind of the value in words, such as `a number`, for error messages.
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

  /// The decoded string; `nil` for other kinds.
  public var string: String? {
    let entry = entry
    guard entry.kind == .string || entry.kind == .escapedString else { return nil }
    return document.text(of: entry)
  }

  /// The number as an integer; `nil` if the number is not whole or does not fit `Int64`, and for
  /// other kinds. `5.0` is the integer 5. A number with a fraction or an exponent must be below
  /// 2^53, because a double has no further integers one by one.
  public var int: Int64? {
    let entry = entry
    return switch entry.kind {
    case .int: Int64(bitPattern: entry.content)
    case .double: Int64(whole: Double(bitPattern: entry.content))
    default: nil
    }
  }

  /// The number as a double; `nil` for other kinds.
  public var double: Double? {
    let entry = entry
    return switch entry.kind {
    case .int: Double(Int64(bitPattern: entry.content))
    case .double: Double(bitPattern: entry.content)
    default: nil
    }
  }

  /// The value as a boolean: a boolean, or one of the whole numbers 0 and 1; `nil` for any other
  /// value.
  public var bool: Bool? {
    let entry = entry
    return switch entry.kind {
    case .bool, .int: entry.content == 1 ? true : entry.content == 0 ? false : nil
    default: nil
    }
  }

  // MARK: Containers

  /// The number of elements or members; 0 for other kinds.
  public var count: Int { isArray || isObject ? Int(entry.content) : 0 }

  /// The elements of an array; `nil` for other kinds.
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

  /// Returns the member with this name, even if it is null; `nil` if there is none, and for other
  /// kinds.
  ///
  /// - Complexity: O(*n*), where *n* is the number of members. The contents of their values are
  ///   skipped.
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

  /// The member with this name; `nil` if there is none or it is null, and for other kinds.
  public subscript(name: String) -> JSONNode? {
    guard let member = member(name), !member.isNull else { return nil }
    return member
  }

  /// Calls `visit` with the name and the value of each member of an object, in the order of the
  /// text. Does nothing for other kinds.
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

  /// The value with all its contents, as a decoded tree.
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
        // Names with other bytes can be equal texts to Swift. The first of them counts.
        if members[name] == nil { members[name] = member.value }
      }
      return .object(members)
    }
  }

  /// The path of the value in the document, such as `operations[2].record`; empty for the root.
  ///
  /// - Complexity: O(*n*), where *n* is the number of the document's entries before the value.
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
        : String(decoding: JSONEscape.unescaped(raw), as: UTF8.self)
    }
  }

  /// Whether the string of an entry equals a name. If the string has no escapes, the method
  /// compares bytes and allocates nothing.
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
}
