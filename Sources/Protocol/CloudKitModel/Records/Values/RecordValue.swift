import Foundation

/// The value of a record's field. A field without a value is absent from the record.
///
/// The cases for locations, references and assets are indirect, so that each value takes little
/// space in an array.
public enum RecordValue: Sendable {
  /// A text. Texts are compared by their bytes, so composed and decomposed letters differ.
  case string(String)
  /// A 64-bit integer. CloudKit has no boolean type; 0 means false and 1 means true.
  case int64(Int64)
  /// A floating-point number.
  case double(Double)
  /// A date and time, in whole milliseconds.
  case timestamp(Timestamp)
  /// A date of an encrypted field that is not a whole millisecond. Its type is that of a timestamp.
  indirect case preciseTimestamp(PreciseTimestamp)
  /// Binary data.
  case bytes(Data)
  /// A place on the earth.
  indirect case location(Location)
  /// A pointer to another record.
  indirect case reference(Reference)
  /// A file that is stored apart from the record.
  indirect case asset(Asset)
  /// A list of values of one type. The first value is the type of the elements, so that an empty
  /// list has a type too.
  case list(of: ValueType, [RecordValue])

  /// The type of the value.
  public var type: FieldType {
    switch self {
    case .string: FieldType(.string)
    case .int64: FieldType(.int64)
    case .double: FieldType(.double)
    case .timestamp, .preciseTimestamp: FieldType(.timestamp)
    case .bytes: FieldType(.bytes)
    case .location: FieldType(.location)
    case .reference: FieldType(.reference)
    case .asset: FieldType(.asset)
    case .list(let element, _): .list(of: element)
    }
  }

  /// Checks that coordinates and dates are in range, that all elements of a list have the list's element
  /// type, and that a list contains no lists.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/wrongType``.
  public func validate(field: String) throws(ModelError) {
    switch self {
    case .location(let location):
      try location.validate(field: field)
    case .list(let element, let values):
      for (index, value) in values.enumerated() {
        guard value.type == FieldType(element) else {
          throw ModelError(
            .wrongType, field: field,
            "element \(index) of list '\(field)' is \(value.type), but the elements must be \(element.rawValue)"
          )
        }
        try value.validate(field: field)
      }
    case .timestamp(let timestamp):
      try timestamp.validate(field: field)
    case .preciseTimestamp(let precise):
      try precise.timestamp.validate(field: field)
      guard abs(precise.remainder) <= 0.001 else {
        throw ModelError(
          .wrongType, field: field,
          "the fraction of the date in field '\(field)' is \(precise.remainder) seconds; it may be at "
            + "most 0.001")
      }
    case .string, .int64, .double, .bytes, .reference, .asset:
      break
    }
  }

  /// The estimated number of bytes that the value adds to the size of its record. Assets add
  /// nothing because they are stored apart.
  public var approximateSize: Int {
    switch self {
    case .string(let string): string.utf8.count
    case .int64, .double, .timestamp, .preciseTimestamp: 8
    case .bytes(let data): data.count
    case .location: 64
    case .reference(let reference): reference.recordName.utf8.count + 16
    case .asset: 0
    case .list(_, let values): values.reduce(4) { $0 + $1.approximateSize }
    }
  }
}
