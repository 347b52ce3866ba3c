extension Filter {
  /// Checks that the comparator, the field and the value fit together. The schema does not matter
  /// here.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidFilter`` in most cases. A bad field
  ///   name gives ``ModelError/Code/invalidName``, and a malformed value
  ///   ``ModelError/Code/wrongType``.
  public func validate() throws(ModelError) {
    if case .field(let name) = key { try Identifier.validateFieldName(name) }
    try validateDistance()
    if key == .allText, !comparator.relation.comparesTokens {
      throw broken("needs a field name")
    }
    guard let value else {
      guard comparator.relation == .equals else {
        throw broken("needs a value")
      }
      return
    }
    try value.validate(field: key.description)
    guard !value.isPrecise else {
      throw broken(
        "cannot compare with a fraction of a millisecond: only encrypted fields have dates with one, "
          + "and they are not searchable")
    }
    if case .system = key {
      guard value.isEveryText({ !$0.utf8.contains(0) }) else {
        throw broken("cannot search for the character U+0000, because no name has it")
      }
      guard value.isEveryText(\.isStreamSafe) else {
        throw broken(
          "cannot search for more than 30 combining marks in a row, because no name has them")
      }
    }
    if case .list(_, let values) = value, values.count > ServiceLimits.valuesPerFilter {
      throw broken("has \(values.count) values; the limit is \(ServiceLimits.valuesPerFilter)")
    }
    try validate(value)
  }

  /// Checks that the filter's value can be compared with a field of this type. A filter without a
  /// value fits every type.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidFilter``.
  public func validate(against fieldType: FieldType) throws(ModelError) {
    guard let value else { return }
    let wanted = value.type
    let mismatch = broken("cannot compare a field of type \(fieldType) with \(wanted)")
    guard fieldType.isList || !comparator.relation.comparesList else {
      throw broken("needs a field with a list, not one of type \(fieldType)")
    }
    switch comparator.relation {
    case .containsAllTokens, .containsAnyTokens:
      guard fieldType.element == .string else { throw mismatch }
    case .listContains, .listMemberBeginsWith:
      guard Self.comparable(fieldType.element, wanted.element) else { throw mismatch }
    case .listContainsAll, .listContainsAny:
      guard isEmptyList || Self.comparable(fieldType.element, wanted.element)
      else { throw mismatch }
    case .isIn:
      guard !fieldType.isList else {
        throw broken("needs a field with a single value, not one of type \(fieldType)")
      }
      guard isEmptyList || equatable(fieldType.element, wanted.element) else { throw mismatch }
    case .equals:
      guard fieldType.isList == wanted.isList, equatable(fieldType.element, wanted.element)
      else { throw mismatch }
    case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .near, .beginsWith:
      guard fieldType.isList == wanted.isList,
        Self.comparable(fieldType.element, wanted.element)
      else { throw mismatch }
    }
  }

  /// The name of a record or a user is a string, but a filter may also give it as a reference.
  private func equatable(_ field: ValueType, _ value: ValueType) -> Bool {
    if case .system = key, field == .string, value == .reference { return true }
    return Self.comparable(field, value)
  }

  /// Whether the value is an empty list, which fits fields of every element type.
  private var isEmptyList: Bool {
    if case .list(_, let values) = value { return values.isEmpty }
    return false
  }

  private static func comparable(_ left: ValueType, _ right: ValueType) -> Bool {
    left == right || (left.isNumber && right.isNumber)
  }

  private func validateDistance() throws(ModelError) {
    if comparator == .near {
      guard let distance, distance >= 0, distance.isFinite else {
        throw broken("needs a distance in metres that is not negative")
      }
    } else if distance != nil {
      throw broken("must not have a distance")
    }
  }

  private func validate(_ value: RecordValue) throws(ModelError) {
    let type = value.type
    if type.element == .asset || (type.element == .bytes) {
      throw broken("cannot use a value of type \(type): such fields are not searchable")
    }
    switch comparator.relation {
    case .equals:
      break
    case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals:
      guard type.element.isOrdered, !type.isList else {
        throw broken("needs a string, a number or a timestamp, not \(type)")
      }
    case .near:
      guard type == FieldType(.location) else { throw broken("needs a location, not \(type)") }
    case .containsAllTokens, .containsAnyTokens:
      guard case .string(let text) = value else { throw broken("needs a string, not \(type)") }
      let count = TextTokens(text).tokens.count
      guard count <= ServiceLimits.wordsPerFilter else {
        throw broken("has \(count) words; the limit is \(ServiceLimits.wordsPerFilter)")
      }
    case .beginsWith, .listMemberBeginsWith:
      guard type == FieldType(.string) else { throw broken("needs a string, not \(type)") }
    case .isIn, .listContainsAll, .listContainsAny:
      guard type.isList else { throw broken("needs a list, not \(type)") }
    case .listContains:
      guard !type.isList else { throw broken("needs a single value, not \(type)") }
    }
  }

  private func broken(_ rule: String) -> ModelError {
    ModelError(
      .invalidFilter, field: key.description, "\(comparator.rawValue) on '\(key)' \(rule)")
  }
}

extension RecordValue {
  /// Returns whether a condition holds for each string in the value and for each record name in its
  /// references.
  fileprivate func isEveryText(_ condition: (String) -> Bool) -> Bool {
    switch self {
    case .string(let text): condition(text)
    case .reference(let reference): condition(reference.recordName)
    case .list(_, let values): values.allSatisfy { $0.isEveryText(condition) }
    case .int64, .double, .timestamp, .preciseTimestamp, .bytes, .location, .asset: true
    }
  }
}
