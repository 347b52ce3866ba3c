extension RecordValue {
  /// Creates a list of single values. If integers and doubles are mixed, the integers become
  /// doubles. A list without elements has the type `STRING_LIST`.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/wrongType`` when the values have several types
  ///   otherwise.
  public init(listOf values: [RecordValue], field: String) throws(ModelError) {
    var values = values
    var types = Set(values.map(\.type.element))
    if types == [.int64, .double] {
      values = values.map { value in
        if case .int64(let integer) = value { .double(Double(integer)) } else { value }
      }
      types = [.double]
    }
    guard types.count <= 1 else {
      let names = types.map(\.rawValue).sorted().joined(separator: ", ")
      throw ModelError(
        .wrongType, field: field, "the list in the field '\(field)' mixes types: \(names)")
    }
    self = .list(of: types.first ?? .string, values)
  }
}
