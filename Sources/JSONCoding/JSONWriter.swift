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
public struct JSONWriter: Sendable {
  public private(set) var bytes: [UInt8] = []
  private var needsComma = false

  public init(reserving capacity: Int = 256) {
    bytes.reserveCapacity(capacity)
  }

  public var data: Data { Data(bytes) }
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  // MARK: Containers

  public mutating func object<Failure: Error>(
    _ members: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    try enclose(UInt8(ascii: "{"), UInt8(ascii: "}"), members)
  }

  public mutating func array<Failure: Error>(
    _ elements: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    try enclose(UInt8(ascii: "["), UInt8(ascii: "]"), elements)
  }

  /// Writes a member's name; the next value written is the member's.
  public mutating func key(_ name: String) {
    separate()
    appendQuoted(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  // MARK: Values

  public mutating func null() { raw("null") }
  public mutating func value(_ string: String) {
    separate()
    appendQuoted(string)
    needsComma = true
  }
  public mutating func value(_ bool: Bool) { raw(bool ? "true" : "false") }
  public mutating func value(_ int: Int64) {
    separate()
    appendDigits(of: int)
    needsComma = true
  }
  public mutating func value(_ int: Int) { value(Int64(int)) }

  /// Writes a number in the shortest form that reads back as the same double, with a decimal point
  /// or an exponent so that it stays a double. JSON has no NaN and no infinities: they become null.
  public mutating func value(_ double: Double) {
    double.isFinite ? raw(double.description) : null()
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

  private mutating func enclose<Failure: Error>(
    _ open: UInt8, _ close: UInt8, _ content: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    separate()
    bytes.append(open)
    needsComma = false
    try content(&self)
    bytes.append(close)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func appendDigits(of int: Int64) {
    if int < 0 { bytes.append(UInt8(ascii: "-")) }
    let start = bytes.count
    var rest = int.magnitude
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  private mutating func appendQuoted(_ string: String) {
    bytes.append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { text in
      // Up to the first byte that needs an escape, which most strings do not have.
      let plain = text.firstIndex(where: Self.needsEscape) ?? text.count
      bytes.append(contentsOf: text[..<plain])
      for byte in text[plain...] { appendEscaped(byte) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(byte)
    case 0x0A: bytes.append(contentsOf: #"\n"#.utf8)
    case 0x0D: bytes.append(contentsOf: #"\r"#.utf8)
    case 0x09: bytes.append(contentsOf: #"\t"#.utf8)
    case 0..<0x20:
      bytes.append(contentsOf: #"\u00"#.utf8)
      bytes.append(Self.hexadecimal[Int(byte >> 4)])
      bytes.append(Self.hexadecimal[Int(byte & 0xF)])
    default: bytes.append(byte)
    }
  }

  private static let hexadecimal = Array("0123456789abcdef".utf8)
}

extension JSONValue {
  /// The value as JSON text, with the members of objects in alphabetical order.
  public var text: String {
    var writer = JSONWriter()
    writer.value(self)
    return writer.text
  }
}
