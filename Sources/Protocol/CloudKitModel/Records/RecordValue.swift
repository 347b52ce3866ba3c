import Foundation

/// The value of a record's field. A field without a value is absent from the record.
///
/// The locations, references and assets are indirect, so that a value takes little space in an
/// array.
public enum RecordValue: Sendable {
  /// A text. Its bytes count: composed and decomposed letters are different values.
  case string(String)
  /// A 64-bit integer. CloudKit has no boolean; 0 and 1 stand for false and true.
  case int64(Int64)
  /// A floating-point number.
  case double(Double)
  /// A date and time, in whole milliseconds.
  case timestamp(Timestamp)
  /// Binary data.
  case bytes(Data)
  /// A place on the earth.
  indirect case location(Location)
  /// A pointer to another record.
  indirect case reference(Reference)
  /// A file that is stored apart from the record.
  indirect case asset(Asset)
  /// A list of values of one type. The case has the type so that an empty list has one too.
  case list(of: ValueType, [RecordValue])

  /// The type of the value.
  public var type: FieldType {
    switch self {
    case .string: FieldType(.string)
    case .int64: FieldType(.int64)
    case .double: FieldType(.double)
    case .timestamp: FieldType(.timestamp)
    case .bytes: FieldType(.bytes)
    case .location: FieldType(.location)
    case .reference: FieldType(.reference)
    case .asset: FieldType(.asset)
    case .list(let element, _): .list(of: element)
    }
  }

  /// Checks that coordinates are in range, that all elements of a list have its type, and that a
  /// list contains no lists.
  ///
  /// - Parameter field: The name of the field, for the error.
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
    case .string, .int64, .double, .timestamp, .bytes, .reference, .asset:
      break
    }
  }

  /// The estimated number of bytes that the value adds to the size of its record. Assets add
  /// nothing because they are stored apart.
  public var approximateSize: Int {
    switch self {
    case .string(let string): string.utf8.count
    case .int64, .double, .timestamp: 8
    case .bytes(let data): data.count
    case .location: 64
    case .reference(let reference): reference.recordName.utf8.count + 16
    case .asset: 0
    case .list(_, let values): values.reduce(4) { $0 + $1.approximateSize }
    }
  }
}
