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

/// A coder of the fields of a ``RowCodable``: it encodes or decodes them one by one.
///
/// ``RowEncoder`` never fails: its `Failure` is `Never`. ``RowDecoder`` throws
/// ``StoreError/Code/corrupt`` for damaged bytes.
protocol RowCoder {
  /// The error of a coder; `Never` for one that encodes.
  associatedtype Failure: Error

  /// Codes a part that every row has. A row without it is damaged.
  ///
  /// - Parameters:
  ///   - tag: 1 to 63; those up to 31 take one byte.
  ///   - name: the field's name in errors.
  ///   - part: the part to encode, or the place for the decoded one.
  mutating func required<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part
  ) throws(Failure)

  /// Codes an optional part. A nil part is not written, and a row without the field has nil.
  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part?
  ) throws(Failure)

  /// Codes a part that is omitted if it has the default value. A row without the field has the
  /// default.
  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part, default: Part
  ) throws(Failure)

  /// Codes one case of an enum, by its associated value.
  ///
  /// - Parameters:
  ///   - tag: the tag of the case.
  ///   - name: the case's name in errors.
  ///   - part: the associated value; nil if the enum has another case.
  ///   - set: makes the enum this case, with a decoded value.
  mutating func choice<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: @autoclosure () -> Part?, set: (Part) -> Void
  ) throws(Failure)

  /// Ends the cases of an enum, of which each row has exactly one. A row of an unknown case is
  /// refused as damaged.
  mutating func endChoice() throws(Failure)
}

/// A set of fields of a row.
struct RowTags: Sendable, Equatable {
  /// A bit for each tag, 0 to 63.
  private var bits: UInt64

  /// All fields.
  static let all = RowTags(bits: .max)

  /// Creates the set of these tags, 0 to 63 each.
  init(_ tags: UInt8...) {
    bits = tags.reduce(0) { $0 | 1 << UInt64($1) }
  }

  private init(bits: UInt64) {
    self.bits = bits
  }

  /// All fields that are not in the set.
  var others: RowTags { RowTags(bits: ~bits) }

  /// Returns whether the field with this tag is in the set.
  func contains(_ tag: UInt8) -> Bool { bits >> UInt64(tag) & 1 != 0 }
}

// MARK: Rows

extension RowCodable {
  /// Returns the value encoded as the whole content of a column: the format's version, the fields,
  /// the end key.
  ///
  /// - Parameter capacity: the expected size in bytes.
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
  ///   - bytes: the content of the column.
  ///   - tags: the fields to decode; the others are skipped, and have the values of ``blank``.
  ///   - name: the name of the row, if it has one, for errors.
  /// - Throws: ``StoreError/Code/corrupt`` for damaged bytes.
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
