import CloudKitModel
import Foundation

/// Encodes records, subscriptions and changes in the store's compact binary format.
///
/// Integers are variable-length (seven bits a byte, zigzag), strings and bytes follow their length,
/// doubles are eight bytes little-endian. The first byte of a blob is the format's version.
/// ``RowCodable`` adds tagged fields to this format; other values are encoded by position.
struct RowEncoder {
  static let version: UInt8 = 1

  private(set) var bytes: [UInt8]
  /// The fields of a ``RowCodable`` to encode.
  var tags = RowTags.all

  init(reserving capacity: Int = 192) {
    bytes = []
    bytes.reserveCapacity(capacity)
    bytes.append(Self.version)
  }

  mutating func encode(byte: UInt8) {
    bytes.append(byte)
  }

  mutating func encode(_ flag: Bool) {
    bytes.append(flag ? 1 : 0)
  }

  mutating func encode(_ integer: Int64) {
    encodeUnsigned(UInt64(bitPattern: (integer << 1) ^ (integer >> 63)))
  }

  mutating func encode(count: Int) {
    encodeUnsigned(UInt64(count))
  }

  mutating func encode(_ double: Double) {
    withUnsafeBytes(of: double.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func encode(_ text: String) {
    encode(count: text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  mutating func encode(_ data: some Collection<UInt8>) {
    encode(count: data.count)
    bytes.append(contentsOf: data)
  }

  /// Appends another encoder's output without its version byte.
  mutating func append(encoded bytes: ArraySlice<UInt8>) {
    self.bytes.append(contentsOf: bytes)
  }

  mutating func encode(_ uuid: UUID) {
    withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
  }

  mutating func encode(_ timestamp: Timestamp) {
    encode(timestamp.milliseconds)
  }

  /// Encodes a presence byte, then the value if there is one.
  mutating func encode<Value>(
    optional value: Value?, _ encode: (inout RowEncoder, Value) -> Void
  ) {
    self.encode(value != nil)
    if let value { encode(&self, value) }
  }

  mutating func encode(optional text: String?) {
    encode(optional: text) { $0.encode($1) }
  }

  /// Encodes the number of elements, then each element.
  mutating func encode<Elements: Collection>(
    each elements: Elements, _ encode: (inout RowEncoder, Elements.Element) -> Void
  ) {
    self.encode(count: elements.count)
    for element in elements { encode(&self, element) }
  }

  /// Reserves a byte for the length of the following content.
  mutating func reserveLength() -> Int {
    bytes.append(0)
    return bytes.count - 1
  }

  /// Writes the length of the content since ``reserveLength()``.
  mutating func fillLength(at place: Int) {
    let count = bytes.count - place - 1
    guard count >= 0x80 else {
      bytes[place] = UInt8(count)
      return
    }
    // A longer length moves the content to make space.
    var length = RowEncoder(reserving: 16)
    length.encode(count: count)
    bytes.replaceSubrange(place...place, with: length.bytes.dropFirst())
  }

  private mutating func encodeUnsigned(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
