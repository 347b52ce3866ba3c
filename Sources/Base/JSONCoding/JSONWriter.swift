import Foundation

/// Writes JSON text straight into bytes, with no tree of values in between.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.object { writer in
///   writer.member("name", "Suva")
///   writer.key("tags")
///   writer.array { $0.value("deep") }
/// }
/// // writer.bytes: {"name":"Suva","tags":["deep"]}
/// ```
public struct JSONWriter: ~Copyable, Sendable {
  private var output: GrowingBytes
  private var needsComma = false

  public init(reserving capacity: Int = 256) {
    output = GrowingBytes(reserving: capacity)
  }

  /// The text as bytes; they are copied.
  public var bytes: [UInt8] { output.array }
  /// The text as bytes, which are handed over as they are: the writer is used up.
  public var data: Data { consuming get { output.takeData() } }
  public var text: String { output.text }

  // MARK: Containers

  /// Begins an object, which ``endObject()`` ends; for members that are written in several places.
  public mutating func beginObject() { open(UInt8(ascii: "{")) }
  public mutating func endObject() { close(UInt8(ascii: "}")) }

  // These two are inlined where they are called: a closure for each object costs more than what it
  // writes.

  @inlinable
  public mutating func object<Failure: Error>(
    _ members: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    open(UInt8(ascii: "{"))
    try members(&self)
    close(UInt8(ascii: "}"))
  }

  @inlinable
  public mutating func array<Failure: Error>(
    _ elements: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    open(UInt8(ascii: "["))
    try elements(&self)
    close(UInt8(ascii: "]"))
  }

  /// Writes a member's name; the next value written is the member's.
  public mutating func key(_ name: String) {
    separate()
    appendQuoted(name)
    output.append(UInt8(ascii: ":"))
    needsComma = false
  }

  // MARK: Values

  public mutating func null() { plain("null") }
  public mutating func value(_ string: String) {
    separate()
    appendQuoted(string)
    needsComma = true
  }
  public mutating func value(_ bool: Bool) { plain(bool ? "true" : "false") }
  public mutating func value(_ int: Int64) {
    separate()
    output.appendDigits(of: int)
    needsComma = true
  }
  public mutating func value(_ int: Int) { value(Int64(int)) }

  /// Writes a number in the shortest form that reads back as the same double, with a decimal point
  /// or an exponent so that it stays a double. JSON has no NaN and no infinities: they become null.
  public mutating func value(_ double: Double) {
    guard double.isFinite else { return null() }
    separate()
    var text = double.description
    text.withUTF8 { output.append(UnsafeRawBufferPointer($0)) }
    needsComma = true
  }

  public mutating func value(_ json: JSONValue) {
    switch json {
    case .null: null()
    case .bool(let bool): value(bool)
    case .int(let int): value(int)
    case .double(let double): value(double)
    case .string(let string): value(string)
    case .array(let elements):
      array { writer in for element in elements { writer.value(element) } }
    case .object(let members):
      object { writer in
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
          writer.key(name)
          writer.value(member)
        }
      }
    }
  }

  // MARK: Members

  public mutating func member(_ name: String, _ string: String) {
    key(name)
    value(string)
  }
  public mutating func member(_ name: String, _ bool: Bool) {
    key(name)
    value(bool)
  }
  public mutating func member(_ name: String, _ int: Int64) {
    key(name)
    value(int)
  }
  public mutating func member(_ name: String, _ int: Int) {
    key(name)
    value(int)
  }
  public mutating func member(_ name: String, _ double: Double) {
    key(name)
    value(double)
  }
  public mutating func member(_ name: String, _ json: JSONValue) {
    key(name)
    value(json)
  }
  /// Writes nothing when the string is nil.
  public mutating func member(_ name: String, ifPresent string: String?) {
    if let string { member(name, string) }
  }
  /// Writes nothing when the list is nil.
  public mutating func member(_ name: String, ifPresent strings: [String]?) {
    guard let strings else { return }
    key(name)
    array { writer in for string in strings { writer.value(string) } }
  }

  // MARK: Bytes

  @usableFromInline
  mutating func open(_ bracket: UInt8) {
    separate()
    output.append(bracket)
    needsComma = false
  }

  @usableFromInline
  mutating func close(_ bracket: UInt8) {
    output.append(bracket)
    needsComma = true
  }

  @inline(__always)
  private mutating func separate() {
    if needsComma { output.append(UInt8(ascii: ",")) }
  }

  private mutating func plain(_ word: StaticString) {
    separate()
    output.append(word)
    needsComma = true
  }

  private mutating func appendQuoted(_ string: String) {
    output.append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { text in
      let text = UnsafeRawBufferPointer(text)
      // Most strings need no escape at all.
      let plain = JSONEscaping.plainPrefix(of: text)
      output.append(UnsafeRawBufferPointer(rebasing: text[..<plain]))
      if plain < text.count {
        for byte in text[plain...] { appendEscaped(byte) }
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      output.append(UInt8(ascii: "\\"))
      output.append(byte)
    case 0x0A: output.append(#"\n"#)
    case 0x0D: output.append(#"\r"#)
    case 0x09: output.append(#"\t"#)
    case 0..<0x20:
      output.append(#"\u00"#)
      output.append(JSONEscaping.hexadecimal(byte >> 4))
      output.append(JSONEscaping.hexadecimal(byte & 0xF))
    default: output.append(byte)
    }
  }
}

extension JSONValue {
  /// The value as JSON text, with the members of objects in alphabetical order.
  public var text: String {
    var writer = JSONWriter()
    writer.value(self)
    return writer.text
  }
}
