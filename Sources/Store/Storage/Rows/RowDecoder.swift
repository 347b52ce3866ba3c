import CloudKitModel
import Foundation
import StoreModel

/// A decoder that reads the output of ``RowEncoder``, called a *blob*, from the first byte to the
/// last.
///
/// The methods throw ``StoreError/Code/corrupt`` for bytes that they cannot decode. No bytes make
/// the decoder allocate more than a small multiple of the blob's size. Parts are decoded in the
/// order of encoding:
///
/// ```swift
/// var decoder = try RowDecoder(content, of: "record", named: "apple")
/// try decoder.decodeContent(into: &record)
/// try decoder.finish()
/// ```
struct RowDecoder {
  private let bytes: [UInt8]
  private var position = 0
  /// The end of the part that is being decoded: the whole blob, or a field.
  private var end: Int
  var fields = Fields()
  private let role: String
  private let name: String?

  init(_ bytes: [UInt8], of role: String, named name: String? = nil) throws {
    self.bytes = bytes
    end = bytes.count
    self.role = role
    self.name = name
    let version = try decodeByte()
    guard version == RowEncoder.version else {
      throw damaged("has the unknown version \(version)")
    }
  }

  /// `what` is the end of a sentence, such as `ends too early`.
  func damaged(_ what: String) -> StoreError {
    let name = name.map { " '\($0)'" } ?? ""
    let row = fields.row.map { " (\($0))" } ?? ""
    let field = fields.field.map { ": field '\($0)'\(row)" } ?? row
    return StoreError(
      .corrupt,
      "the stored \(role)\(name)\(field) \(what) (byte \(position) of \(bytes.count)); restore the store from a backup"
    )
  }

  var isAtEnd: Bool { position == end }

  func finish() throws {
    guard isAtEnd else { throw damaged("is longer than its content") }
  }

  mutating func decodeByte() throws -> UInt8 {
    guard position < end else { throw damaged("ends too early") }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func decodeFlag() throws -> Bool {
    switch try decodeByte() {
    case 0: return false
    case 1: return true
    default: throw damaged("has a flag that is neither 0 nor 1")
    }
  }

  mutating func decodeInteger() throws -> Int64 {
    let value = try decodeUnsigned()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// Each element or byte takes at least one byte, so a number above that of the remaining bytes
  /// is refused before anything is allocated.
  mutating func decodeCount() throws -> Int {
    let value = try decodeUnsigned()
    guard value <= UInt64(end - position) else {
      throw damaged("has a count that is larger than its content")
    }
    return Int(value)
  }

  mutating func decodeDouble() throws -> Double {
    let slice = try take(8)
    var pattern: UInt64 = 0
    for byte in slice.reversed() { pattern = pattern << 8 | UInt64(byte) }
    return Double(bitPattern: pattern)
  }

  mutating func decodeText() throws -> String {
    let slice = try take(try decodeCount())
    // ASCII is frequent and needs none of the checks.
    if slice.allSatisfy({ $0 < 0x80 }) { return String(decoding: slice, as: UTF8.self) }
    guard let text = String(validating: slice, as: UTF8.self) else {
      throw damaged("has text that is not UTF-8")
    }
    return text
  }

  mutating func decodeBytes() throws -> [UInt8] {
    Array(try take(try decodeCount()))
  }

  mutating func decodeUUID() throws -> UUID {
    let slice = try take(16)
    return slice.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  mutating func decodeTimestamp() throws -> Timestamp {
    Timestamp(milliseconds: try decodeInteger())
  }

  mutating func decodeOptional<Value>(
    _ decode: (inout RowDecoder) throws -> Value
  ) throws -> Value? {
    try decodeFlag() ? try decode(&self) : nil
  }

  mutating func decodeOptionalText() throws -> String? {
    try decodeOptional { try $0.decodeText() }
  }

  mutating func decodeEach<Value>(
    _ decode: (inout RowDecoder) throws -> Value
  ) throws -> [Value] {
    let count = try decodeCount()
    var values: [Value] = []
    for _ in 0..<count { values.append(try decode(&self)) }
    return values
  }

  mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
    guard count <= end - position else { throw damaged("ends too early") }
    defer { position += count }
    return bytes[position..<position + count]
  }

  /// The decoder then reads no further than `count` bytes. The caller must have checked that they
  /// exist, as ``decodeCount()`` does. Returns the previous end, for ``leave(to:)``.
  mutating func enter(_ count: Int) -> Int {
    defer { end = position + count }
    return end
  }

  mutating func leave(to end: Int) {
    self.end = end
  }

  mutating func skip(_ wire: RowWire) throws {
    switch wire {
    case .number: _ = try decodeUnsigned()
    case .eightBytes: _ = try take(8)
    case .bytes: _ = try take(try decodeCount())
    }
  }

  /// Seven bits a byte, the lowest first. The highest bit shows that another byte follows.
  mutating func decodeUnsigned() throws -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try decodeByte()
      guard shift < 63 || byte <= 1 else { throw damaged("has a number that is too large") }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
  }
}
