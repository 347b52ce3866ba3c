import CloudKitModel

/// The kind of a field's content, by which a decoder can skip unknown fields. The raw values are
/// stored, and must not change.
enum RowWire: UInt8 {
  /// An integer of variable length, or a flag byte.
  case number = 0
  case eightBytes = 1
  /// A length, then that many bytes.
  case bytes = 2
}

/// The content of a field of a ``RowCodable``.
protocol RowPart: Sendable, Equatable {
  /// Must not change after a release.
  static var wire: RowWire { get }
  static var blank: Self { get }
  /// Content of the kind ``RowWire/bytes`` begins with its length.
  mutating func write(to encoder: inout RowEncoder)
  mutating func read(from decoder: inout RowDecoder) throws
}

extension Bool: RowPart {
  static var wire: RowWire { .number }
  static var blank: Bool { false }
  func write(to encoder: inout RowEncoder) { encoder.encode(self) }
  mutating func read(from decoder: inout RowDecoder) throws { self = try decoder.decodeFlag() }
}

extension Int64: RowPart {
  static var wire: RowWire { .number }
  static var blank: Int64 { 0 }
  func write(to encoder: inout RowEncoder) { encoder.encode(self) }
  mutating func read(from decoder: inout RowDecoder) throws { self = try decoder.decodeInteger() }
}

extension Double: RowPart {
  static var wire: RowWire { .eightBytes }
  static var blank: Double { 0 }
  func write(to encoder: inout RowEncoder) { encoder.encode(self) }
  mutating func read(from decoder: inout RowDecoder) throws { self = try decoder.decodeDouble() }
}

extension String: RowPart {
  static var wire: RowWire { .bytes }
  static var blank: String { "" }
  func write(to encoder: inout RowEncoder) { encoder.encode(self) }
  mutating func read(from decoder: inout RowDecoder) throws { self = try decoder.decodeText() }
}

/// The length in bytes, then the elements until the bytes end.
extension Array: RowPart where Element: RowPart {
  static var wire: RowWire { .bytes }
  static var blank: [Element] { [] }

  func write(to encoder: inout RowEncoder) {
    encoder.encodeNested { for var element in self { element.write(to: &$0) } }
  }

  mutating func read(from decoder: inout RowDecoder) throws {
    self = try decoder.decodeNested {
      var elements: [Element] = []
      while !$0.isAtEnd {
        var element = Element.blank
        try element.read(from: &$0)
        elements.append(element)
      }
      return elements
    }
  }
}

// MARK: By position

// These types occur in nearly every record. Their parts have no keys, so none can be added.

extension ZoneID: RowPart {
  static var wire: RowWire { .bytes }
  static var blank: ZoneID { .default }
  func write(to encoder: inout RowEncoder) { encoder.encodeNested { $0.encode(self) } }
  mutating func read(from decoder: inout RowDecoder) throws {
    self = try decoder.decodeNested { try ZoneID(from: &$0) }
  }
}

extension Location: RowPart {
  static var wire: RowWire { .bytes }
  static var blank: Location { Location(latitude: 0, longitude: 0) }
  func write(to encoder: inout RowEncoder) { encoder.encodeNested { $0.encode(self) } }
  mutating func read(from decoder: inout RowDecoder) throws {
    self = try decoder.decodeNested { try Location(from: &$0) }
  }
}

extension RecordValue: RowPart {
  static var wire: RowWire { .bytes }
  static var blank: RecordValue { .int64(0) }
  func write(to encoder: inout RowEncoder) { encoder.encodeNested { $0.encode(self) } }
  mutating func read(from decoder: inout RowDecoder) throws {
    self = try decoder.decodeNested { try RecordValue(from: &$0) }
  }
}
