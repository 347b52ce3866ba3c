extension RecordValue {
  /// A list of single values; integers beside doubles become doubles.
  ///
  /// - Throws: ``ModelError`` where values of several types are among them.
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
