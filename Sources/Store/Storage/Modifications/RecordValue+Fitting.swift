import CloudKitModel

extension RecordValue {
  /// Returns the value as one of this field type; nil if no conversion is possible. For a field of
  /// doubles, an integer becomes a double, and a list of integers a list of doubles. An empty list
  /// becomes an empty list of the field's type.
  func fitted(to fieldType: FieldType) -> RecordValue? {
    if type == fieldType { return self }
    switch self {
    case .int64(let integer) where fieldType == FieldType(.double):
      return .double(Double(integer))
    case .list(_, let elements) where fieldType.isList && elements.isEmpty:
      return .list(of: fieldType.element, [])
    case .list(.int64, let elements) where fieldType == .list(of: .double):
      return .list(of: .double, elements.compactMap { $0.fitted(to: FieldType(.double)) })
    default:
      return nil
    }
  }
}
