import CloudKitModel
import StoreModel

/// A value that is written by tagged fields, from one description of them: ``code(_:)``.
///
/// Each field is a key, then its content. The key is the field's tag, shifted by two bits, and the
/// ``RowWire`` of the content. A reader skips a field that it does not know. A field that has its default
/// is not written, and a row without the field has the default. Fields follow each other by their tags.
///
/// Writing, reading and a look at a part of a row follow from the description:
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
/// A new field is one more line, with a tag above all that there were. The tag, the type and the default
/// of a field never change after a release.
protocol RowCodable: RowPart {
  /// What the value is called in errors.
  static var rowName: StaticString { get }

  /// Names each field to the coder, in the order of tags. A coder that writes changes nothing.
  mutating func code<Coder: RowCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

/// Writes or reads the fields of a ``RowCodable``, which names them one by one.
protocol RowCoder {
  associatedtype Failure: Error

  /// A part that each row has.
  ///
  /// - Parameters:
  ///   - tag: 1 to 63; those up to 31 take one byte.
  ///   - name: what the field is called in errors.
  mutating func required<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part
  ) throws(Failure)

  /// A part that is there or not.
  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part?
  ) throws(Failure)

  /// A part that is not written where it is the default.
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

/// Some of the fields of a row.
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
  /// The value as the whole content of a column.
  func row(reserving capacity: Int = 192) -> [UInt8] {
    var encoder = RowEncoder(reserving: capacity)
    var value = self
    encoder.encodeFields(of: &value)
    encoder.endFields()
    return encoder.bytes
  }

  /// Reads what ``row(reserving:)`` wrote.
  ///
  /// - Parameters:
  ///   - tags: the fields to read; the others are skipped, and are those of ``blank``.
  ///   - name: which row it is, where it has a name.
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
