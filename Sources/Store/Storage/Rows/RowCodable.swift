import CloudKitModel
import StoreModel

/// A value encoded as tagged fields, from one description of them: ``code(_:)``.
///
/// Each field is a key, then its content. The key is the field's tag, shifted by two bits, and the
/// ``RowWire`` of the content. A reader skips unknown fields. A field with its default value is not
/// written, and a row without the field has the default. Fields are in the order of their tags.
///
/// Encoding, decoding and reading a part of a row follow from the description:
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
/// A new field is one more line, with a tag above all earlier ones. The tag, the type and the
/// default of a field never change after a release.
protocol RowCodable: RowPart {
  /// The value's name in errors.
  static var rowName: StaticString { get }

  /// Passes each field to the coder, in the order of tags. A coder that encodes changes nothing.
  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

/// Encodes or decodes the fields of a ``RowCodable``, one by one.
protocol RowCoder {
  associatedtype Failure: Error

  /// A part that every row has.
  ///
  /// - Parameters:
  ///   - tag: 1 to 63; those up to 31 take one byte.
  ///   - name: the field's name in errors.
  mutating func required<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part
  ) throws(Failure)

  /// An optional part.
  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part?
  ) throws(Failure)

  /// A part that is omitted if it has the default value.
  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part, default: Part
  ) throws(Failure)

  /// One case of an enum, by its associated value.
  mutating func choice<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: @autoclosure () -> Part?, set: (Part) -> Void
  ) throws(Failure)

  /// Ends the cases of an enum, of which each row has exactly one.
  mutating func endChoice() throws(Failure)
}

/// A set of fields of a row.
struct RowTags: Sendable, Equatable {
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
  /// The value encoded as the whole content of a column.
  func row(reserving capacity: Int = 192) -> [UInt8] {
    var encoder = RowEncoder(reserving: capacity)
    var value = self
    encoder.encodeFields(of: &value)
    encoder.endFields()
    return encoder.bytes
  }

  /// Decodes the result of ``row(reserving:)``.
  ///
  /// - Parameters:
  ///   - tags: the fields to decode; the others are skipped, and have the values of ``blank``.
  ///   - name: the name of the row, if it has one, for errors.
  init(row bytes: [UInt8], only tags: RowTags = .all, named name: String? = nil) throws {
    var decoder = try RowDecoder(bytes, of: "\(Self.rowName)", named: name)
    self = Self.blank
    try decoder.decodeFields(into: &self, only: tags, isNested: false)
    try decoder.finish()
  }
}

// A row in a field of another one.
extension RowCodable {
  static var wire: RowWire { .bytes }

  mutating func write(to encoder: inout RowEncoder) {
    encoder.encodeNested { $0.encodeFields(of: &self) }
  }

  mutating func read(from decoder: inout RowDecoder) throws {
    try decoder.decodeNested { try $0.decodeFields(into: &self, isNested: true) }
  }
}
