import Foundation

/// The value of a record's field. A field without a value is absent from the record.
public enum RecordValue: Sendable {
  case string(String)
  case int64(Int64)
  case double(Double)
  case timestamp(Timestamp)
  case bytes(Data)
  indirect case location(Location)
  indirect case reference(Reference)
  indirect case asset(Asset)
  /// A list of values that are all of one type; the type is kept so that an empty list has one.
  case list(of: ValueType, [RecordValue])

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

  /// Throws unless the value is well formed: coordinates in range, and lists of one type, with no
  /// lists in them.
  public func validate(field: String) throws(ModelError) {
    switch self {
    case .location(let location):
      try location.validate(field: field)
    case .list(let element, let values):
      for (index, value) in values.enumerated() {
        guard value.type == FieldType(element) else {
          throw ModelError(
            .wrongType, field: field,
            "element \(index) of list '\(field)' is \(value.type), the list holds \(element.rawValue)"
          )
        }
        try value.validate(field: field)
      }
    case .string, .int64, .double, .timestamp, .bytes, .reference, .asset:
      break
    }
  }

  /// About how many bytes the value counts towards the limit of a record's size. Assets count
  /// nothing: they are stored apart.
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
