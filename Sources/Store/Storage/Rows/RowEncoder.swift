import CloudKitModel
import Foundation

/// An encoder of the store's compact binary format. The result is called a *blob*.
///
/// - Integer: one to ten bytes, with seven bits each, the lowest first. The highest bit shows that
///   another byte follows. Zigzag encoding makes small negative numbers as short as positive ones.
/// - Double: eight bytes, little-endian.
/// - Text or data: its length in bytes, then the bytes.
/// - Optional: a flag byte, 0 or 1, then the value.
/// - List: the number of elements, then each element.
///
/// The first byte is the version of the format. The parts of a ``RowCodable`` have tags; the parts
/// of other values follow one another in a fixed order.
struct RowEncoder {
  static let version: UInt8 = 1

  private(set) var bytes: [UInt8]
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

  /// Numbers from -64 to 63 take one byte.
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

  mutating func append(encoded bytes: ArraySlice<UInt8>) {
    self.bytes.append(contentsOf: bytes)
  }

  mutating func encode(_ uuid: UUID) {
    withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
  }

  mutating func encode(_ timestamp: Timestamp) {
    encode(timestamp.milliseconds)
  }

  mutating func encode<Value>(
    optional value: Value?, _ encode: (inout RowEncoder, Value) -> Void
  ) {
    self.encode(value != nil)
    if let value { encode(&self, value) }
  }

  mutating func encode(optional text: String?) {
    encode(optional: text) { $0.encode($1) }
  }

  mutating func encode<Elements: Collection>(
    each elements: Elements, _ encode: (inout RowEncoder, Elements.Element) -> Void
  ) {
    self.encode(count: elements.count)
    for element in elements { encode(&self, element) }
  }

  /// Returns the index of the byte for the length, for ``fillLength(at:)``.
  mutating func reserveLength() -> Int {
    bytes.append(0)
    return bytes.count - 1
  }

  /// Content of 128 bytes or more is moved, because its length takes more than one byte.
  mutating func fillLength(at place: Int) {
    let count = bytes.count - place - 1
    guard count >= 0x80 else {
      bytes[place] = UInt8(count)
      return
    }
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

extension RowEncoder: RowCoder {
  mutating func encodeFields<Value: RowCodable>(of value: inout Value, only tags: RowTags = .all) {
    let outer = self.tags
    self.tags = tags
    value.code(&self)
    self.tags = outer
  }

  mutating func endFields() {
    encode(byte: RowDecoder.endKey)
  }

  mutating func required<Part: RowPart>(_ tag: UInt8, _ name: StaticString, _ part: inout Part) {
    guard tags.contains(tag) else { return }
    encode(tag, Part.wire)
    part.write(to: &self)
  }

  mutating func field<Part: RowPart>(_ tag: UInt8, _ name: StaticString, _ part: inout Part?) {
    guard part != nil, tags.contains(tag) else { return }
    encode(tag, Part.wire)
    part?.write(to: &self)
  }

  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part, default: Part
  ) {
    guard part != `default`, tags.contains(tag) else { return }
    encode(tag, Part.wire)
    part.write(to: &self)
  }

  mutating func choice<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: @autoclosure () -> Part?, set: (Part) -> Void
  ) {
    guard tags.contains(tag), var part = part() else { return }
    encode(tag, Part.wire)
    part.write(to: &self)
  }

  mutating func endChoice() {}

  mutating func encodeNested(_ encode: (inout RowEncoder) -> Void) {
    let begin = reserveLength()
    encode(&self)
    fillLength(at: begin)
  }

  private mutating func encode(_ tag: UInt8, _ wire: RowWire) {
    encode(count: Int(tag) << 2 | Int(wire.rawValue))
  }
}
