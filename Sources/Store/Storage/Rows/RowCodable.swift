import CloudKitModel
import StoreModel

/// A type whose values are stored as tagged fields. The method ``code(_:)`` describes the fields,
/// for encoding and decoding alike.
///
/// Each field is a key, then its content. The key is the field's tag, shifted left by two bits,
/// plus the ``RowWire`` of the content in the lowest two bits. Fields are in the order of their
/// tags.
///
/// The decoder skips fields that it does not know. A field with its default value is not written;
/// the decoder then uses the default.
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
/// A new field needs one more line, with a tag above all earlier ones. The tag, the type and the
/// default of a field must not change after a release.
protocol RowCodable: RowPart {
  /// The name of the type in errors.
  static var rowName: StaticString { get }

  /// Calls a method of the coder for each field, in the order of the tags. A coder that encodes
  /// leaves the value as it is; one that decodes sets the fields.
  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

/// A coder that either encodes or decodes the fields of a ``RowCodable``, one by one.
///
/// ``RowEncoder`` never fails: its `Failure` is `Never`. ``RowDecoder`` throws
/// ``StoreError/Code/corrupt`` for damaged bytes.
protocol RowCoder {
  /// The error that the coder throws; `Never` for ``RowEncoder``.
  associatedtype Failure: Error

  /// Encodes or decodes a field that every row has. Decoding a row without the field throws
  /// ``StoreError/Code/corrupt``.
  ///
  /// - Parameters:
  ///   - tag: 1 to 63; those up to 31 take one byte.
  ///   - name: the field's name in errors.
  ///   - part: the content to encode, or the variable for the decoded content.
  mutating func required<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part
  ) throws(Failure)

  /// Encodes or decodes an optional field. For nil, no field is written; decoding a row without the
  /// field keeps the value that `part` has.
  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part?
  ) throws(Failure)

  /// Encodes or decodes a field with a default. The field is not written if it has the default
  /// value; decoding a row without the field sets the default.
  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part, default: Part
  ) throws(Failure)

  /// Encodes or decodes one case of an enum, by its associated value.
  ///
  /// - Parameters:
  ///   - tag: the tag of the case.
  ///   - name: the case's name in errors.
  ///   - part: the associated value; nil if the enum has another case.
  ///   - set: sets the enum to this case, with the decoded associated value. Encoding does not call
  ///     it.
  mutating func choice<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: @autoclosure () -> Part?, set: (Part) -> Void
  ) throws(Failure)

  /// Ends the cases of an enum. Decoding a row with none or several of the cases throws
  /// ``StoreError/Code/corrupt``.
  mutating func endChoice() throws(Failure)
}

/// A set of the fields of a row, by their tags.
struct RowTags: Sendable, Equatable {
  /// The bits of the tags in the set: bit *n* for the tag *n*, 0 to 63.
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
  /// Returns the value as the whole content of a column: the version of the format
  /// (``RowEncoder/version``), the fields, and the end key (``RowDecoder/endKey``).
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
  ///   - tags: the fields to decode. The others are skipped, and have the values of
  ///     ``RowPart/blank``.
  ///   - name: the name of the stored item in errors; nil if it has none.
  /// - Throws: ``StoreError/Code/corrupt`` for damaged bytes.
  init(row bytes: [UInt8], only tags: RowTags = .all, named name: String? = nil) throws {
    var decoder = try RowDecoder(bytes, of: "\(Self.rowName)", named: name)
    self = Self.blank
    try decoder.decodeFields(into: &self, only: tags, isNested: false)
    try decoder.finish()
  }
}

// The following members store a value in a field of another row.
extension RowCodable {
  static var wire: RowWire { .bytes }

  mutating func write(to encoder: inout RowEncoder) {
    encoder.encodeNested { $0.encodeFields(of: &self) }
  }

  mutating func read(from decoder: inout RowDecoder) throws {
    try decoder.decodeNested { try $0.decodeFields(into: &self, isNested: true) }
  }
}
