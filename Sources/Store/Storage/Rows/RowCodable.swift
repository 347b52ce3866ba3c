/// A type stored as tagged fields, which ``code(_:)`` describes for encoding and decoding alike.
///
/// Each field is a key, then its content, in the order of the tags. The key is the tag, shifted
/// left by two bits, plus the ``RowWire`` of the content. The decoder skips unknown fields. A
/// field with its default value is not written.
///
/// The description serves to encode a row, to decode it, and to decode some of its fields:
///
/// ```swift
/// extension Query: RowCodable {
///   static let rowName: StaticString = "query"
///   static let blank = Query(recordType: "")
///
///   mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure) {
///     try coder.required(1, "recordType", &recordType)
///     try coder.field(2, "filters", &filters, default: [])
///     try coder.field(3, "sortKeys", &sortKeys, default: [])
///   }
/// }
/// ```
///
/// A new field needs a tag above all earlier ones. The tag, the type and the default of a field
/// must not change after a release.
protocol RowCodable: RowPart {
  static var rowName: StaticString { get }

  /// Calls the coder for each field, in the order of the tags. Encoding leaves the value as it is.
  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

/// A coder of the fields of a ``RowCodable``. ``RowEncoder`` never fails; ``RowDecoder`` throws
/// ``StoreError/Code/corrupt`` for damaged bytes.
protocol RowCoder {
  associatedtype Failure: Error

  /// A field that every row has. Decoding a row without it throws ``StoreError/Code/corrupt``.
  ///
  /// - Parameters:
  ///   - tag: 1 to 63; those up to 31 take one byte.
  ///   - name: the field's name in errors.
  mutating func required<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part
  ) throws(Failure)

  /// An optional field. For nil, no field is written; decoding a row without it keeps the value of
  /// `part`.
  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part?
  ) throws(Failure)

  /// A field that is not written if it has the default value.
  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part, default: Part
  ) throws(Failure)

  /// One case of an enum.
  ///
  /// - Parameters:
  ///   - part: the associated value; nil if the enum has another case.
  ///   - set: sets the case with the decoded value. Encoding does not call it.
  mutating func choice<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: @autoclosure () -> Part?, set: (Part) -> Void
  ) throws(Failure)

  /// Decoding a row with none or several of the cases throws ``StoreError/Code/corrupt``.
  mutating func endChoice() throws(Failure)
}

/// A set of the fields of a row, by their tags.
struct RowTags: Sendable, Equatable {
  /// Bit *n* for the tag *n*, 0 to 63.
  private var bits: UInt64

  static let all = RowTags(bits: .max)

  init(_ tags: UInt8...) {
    bits = tags.reduce(0) { $0 | 1 << UInt64($1) }
  }

  private init(bits: UInt64) {
    self.bits = bits
  }

  var others: RowTags { RowTags(bits: ~bits) }

  func contains(_ tag: UInt8) -> Bool { bits >> UInt64(tag) & 1 != 0 }
}

// MARK: Rows

extension RowCodable {
  /// The whole content of a column: ``RowEncoder/version``, the fields, and ``RowDecoder/endKey``.
  /// `capacity` is the expected size in bytes.
  func row(reserving capacity: Int = 192) -> [UInt8] {
    var encoder = RowEncoder(reserving: capacity)
    var value = self
    encoder.encodeFields(of: &value)
    encoder.endFields()
    return encoder.bytes
  }

  /// Decodes the result of ``row(reserving:)``.
  init(row bytes: [UInt8], only tags: RowTags = .all, named name: String? = nil) throws {
    var decoder = try RowDecoder(bytes, of: "\(Self.rowName)", named: name)
    self = Self.blank
    try decoder.decodeFields(into: &self, only: tags, isNested: false)
    try decoder.finish()
  }
}

// A value in a field of another row.
extension RowCodable {
  static var wire: RowWire { .bytes }

  mutating func write(to encoder: inout RowEncoder) {
    encoder.encodeNested { $0.encodeFields(of: &self) }
  }

  mutating func read(from decoder: inout RowDecoder) throws {
    try decoder.decodeNested { try $0.decodeFields(into: &self, isNested: true) }
  }
}
