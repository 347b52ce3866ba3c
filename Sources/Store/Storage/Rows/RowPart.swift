import CloudKitModel

/// The kind of a field's content, which determines where the content ends. A reader skips unknown
/// fields by it. The raw values are stored.
enum RowWire: UInt8 {
  /// An integer of variable length, or a flag.
  case number = 0
  /// The eight bytes of a double.
  case eightBytes = 1
  /// A length, then that many bytes.
  case bytes = 2
}

/// A type that can be the content of a field of a ``RowCodable``.
protocol RowPart: Sendable, Equatable {
  /// The kind of the content. It never changes after a release.
  static var wire: RowWire { get }
  /// A value into which the content is decoded.
  static var blank: Self { get }
  /// Encodes the content; for ``RowWire/bytes`` with its length. It changes nothing: it is mutating
  /// because decoding uses the same description.
  mutating func write(to encoder: inout RowEncoder)
  /// Decodes the content, for ``RowWire/bytes`` with its length.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` for damaged bytes.
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

/// Encodes the elements one after the other; the length of the whole implies their number.
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

// Values of nearly every record: they have no keys inside, and never get another part.

extension ZoneID: RowPart {
  static var wire: RowWire { .bytes }
  static var blank: ZoneID { .default }
  func write(to encoder: inout RowEncoder) { encoder.encodeNested { $0.encode(self) } }
  mutating func read(from decoder: inout RowDecoder) throws {
    self = try decoder.decodeNested { try $0.decodeZoneID() }
  }
}

extension Location: RowPart {
  static var wire: RowWire { .bytes }
  static var blank: Location { Location(latitude: 0, longitude: 0) }
  func write(to encoder: inout RowEncoder) { encoder.encodeNested { $0.encode(self) } }
  mutating func read(from decoder: inout RowDecoder) throws {
    self = try decoder.decodeNested { try $0.decodeLocation() }
  }
}

extension RecordValue: RowPart {
  static var wire: RowWire { .bytes }
  static var blank: RecordValue { .int64(0) }
  func write(to encoder: inout RowEncoder) { encoder.encodeNested { $0.encode(self) } }
  mutating func read(from decoder: inout RowDecoder) throws {
    self = try decoder.decodeNested { try $0.decodeValue() }
  }
}
