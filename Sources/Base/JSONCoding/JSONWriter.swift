import Foundation

/// A writer of JSON text that writes directly into bytes, without a tree of values.
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
///
/// The writer adds the commas. It does not check that the calls produce valid JSON: write a name
/// before each value of an object, and end each object and array.
public struct JSONWriter: ~Copyable, Sendable {
  private var output: GrowingBytes
  private var needsComma = false

  /// Creates an empty writer with memory for `capacity` bytes. The memory grows when the text needs
  /// more.
  public init(reserving capacity: Int = 256) {
    output = GrowingBytes(reserving: capacity)
  }

  /// A copy of the text as bytes.
  public var bytes: [UInt8] { output.array }
  /// The text as bytes, without a copy. This property consumes the writer.
  public var data: Data { consuming get { output.takeData() } }
  /// The text as a string.
  public var text: String { output.text }

  // MARK: Containers

  /// Begins an object whose members several functions write. Call ``endObject()`` at the end.
  public mutating func beginObject() { open(UInt8(ascii: "{")) }
  /// Ends the object that ``beginObject()`` began.
  public mutating func endObject() { close(UInt8(ascii: "}")) }

  // The compiler inlines both functions: a closure for each object would take more time than
  // writing the object's bytes.

  /// Writes an object whose members `members` writes.
  @inlinable
  public mutating func object<Failure: Error>(
    _ members: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    open(UInt8(ascii: "{"))
    try members(&self)
    close(UInt8(ascii: "}"))
  }

  /// Writes an array whose elements `elements` writes.
  @inlinable
  public mutating func array<Failure: Error>(
    _ elements: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    open(UInt8(ascii: "["))
    try elements(&self)
    close(UInt8(ascii: "]"))
  }

  /// Writes a member's name. The next value that is written is the value of this member.
  public mutating func key(_ name: String) {
    separate()
    appendQuoted(name)
    output.append(UInt8(ascii: ":"))
    needsComma = false
  }

  // MARK: Values

  /// Writes null.
  public mutating func null() { plain("null") }
  /// Writes a string, with escapes where JSON needs them.
  public mutating func value(_ string: String) {
    separate()
    appendQuoted(string)
    needsComma = true
  }
  /// Writes a boolean.
  public mutating func value(_ bool: Bool) { plain(bool ? "true" : "false") }
  /// Writes a whole number.
  public mutating func value(_ int: Int64) {
    separate()
    output.appendDigits(of: int)
    needsComma = true
  }
  /// Writes a whole number.
  public mutating func value(_ int: Int) { value(Int64(int)) }

  /// Writes a number with the fewest digits from which a reader gets the same double. The text has
  /// a decimal point or an exponent, so ``JSONValue`` reads it as a double. NaN and the infinities
  /// do not exist in JSON and become null.
  public mutating func value(_ double: Double) {
    guard double.isFinite else { return null() }
    separate()
    var text = double.description
    text.withUTF8 { output.append(UnsafeRawBufferPointer($0)) }
    needsComma = true
  }

  /// Writes a value with its contents. The members of objects are written in alphabetical order.
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

  /// Writes a member with a string.
  public mutating func member(_ name: String, _ string: String) {
    key(name)
    value(string)
  }
  /// Writes a member with a boolean.
  public mutating func member(_ name: String, _ bool: Bool) {
    key(name)
    value(bool)
  }
  /// Writes a member with a whole number.
  public mutating func member(_ name: String, _ int: Int64) {
    key(name)
    value(int)
  }
  /// Writes a member with a whole number.
  public mutating func member(_ name: String, _ int: Int) {
    key(name)
    value(int)
  }
  /// Writes a member with a double, as ``value(_:)`` does.
  public mutating func member(_ name: String, _ double: Double) {
    key(name)
    value(double)
  }
  /// Writes a member with any value.
  public mutating func member(_ name: String, _ json: JSONValue) {
    key(name)
    value(json)
  }
  /// Writes a member with a string; nothing if the string is `nil`.
  public mutating func member(_ name: String, ifPresent string: String?) {
    if let string { member(name, string) }
  }
  /// Writes a member with a list of strings; nothing if the list is `nil`.
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

  /// Returns the number of bytes that a string has in the JSON that this type writes, without the quotes.
  public static func size(of string: some StringProtocol) -> Int {
    string.utf8.reduce(0) { size, byte in
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x0A, 0x0D, 0x09: size + 2
      case 0..<0x20: size + 6
      default: size + 1
      }
    }
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
