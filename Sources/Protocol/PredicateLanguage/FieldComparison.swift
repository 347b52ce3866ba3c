internal import CloudKitModel

/// A comparison with a field on the left, an operator, and a value or a list on the right.
struct FieldComparison {
  var key: FieldKey
  var comparison: PredicateOperator
  /// The right side. Only values and lists are accepted here.
  var operand: PredicateOperand
  var options: Filter.Options

  /// Returns the filters of the comparison. `BETWEEN` gives two, every other operator one.
  ///
  /// - Throws: ``PredicateRefusal`` when CloudKit has no filter for the comparison.
  func filters(negated: Bool) throws(PredicateRefusal) -> [Filter] {
    if key == .allText || comparison == .tokenMatches { return [try words(negated: negated)] }
    switch comparison {
    case .equal: return [try filter(.equals, value(), negated)]
    case .notEqual: return [try filter(.equals, value(), !negated)]
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      return [Filter(key, range(negated: negated), try value(), options: options)]
    case .between: return try between(negated: negated)
    case .isIn: return [try filter(.isIn, list("IN needs a list"), negated)]
    case .contains:
      if case .list = operand {
        return [try filter(.listContainsAll, value(), negated)]
      }
      return [try filter(.listContains, value(), negated)]
    case .beginsWith: return [try filter(.beginsWith, value(), negated)]
    case .endsWith, .like, .matches, .tokenMatches:
      throw PredicateRefusal("\(comparison.rawValue) is not supported")
    }
  }

  /// Returns the filter that compares the elements of the list in the field (`ANY`). A record
  /// passes the filter if at least one element passes; with `negated`, if none does.
  ///
  /// - Throws: ``PredicateRefusal`` for `allTokens` and `SELF`, and for all but `==` or `CONTAINS`
  ///   with a value, `IN` with a list, and `BEGINSWITH` with a value.
  func elementFilter(negated: Bool) throws(PredicateRefusal) -> Filter {
    guard key != .allText else {
      throw PredicateRefusal("ANY needs the name of a list field")
    }
    switch (comparison, operand) {
    case (.equal, .value), (.contains, .value):
      return try filter(.listContains, value(), negated)
    case (.isIn, .list): return try filter(.listContainsAny, value(), negated)
    case (.beginsWith, .value): return try filter(.listMemberBeginsWith, value(), negated)
    default:
      throw PredicateRefusal("ANY works only with == and a value, IN and a list, and BEGINSWITH")
    }
  }

  /// Returns the filter of a search for words: `self CONTAINS 'words'` or `key TOKENMATCHES
  /// 'words'`. CloudKit has no negated search for words.
  private func words(negated: Bool) throws(PredicateRefusal) -> Filter {
    guard comparison == .contains || comparison == .tokenMatches,
      case .value(.string(let words)) = operand
    else {
      throw PredicateRefusal("a record can only be searched for words, as in self CONTAINS 'words'")
    }
    guard !negated else { throw PredicateRefusal("NOT cannot negate a search for words") }
    return Filter(key, .containsAllTokens, .string(words))
  }

  /// The negation would need an `OR`, which CloudKit does not have.
  private func between(negated: Bool) throws(PredicateRefusal) -> [Filter] {
    guard case .list(let bounds) = operand, bounds.count == 2 else {
      throw PredicateRefusal("BETWEEN needs a list of two values")
    }
    guard !negated else { throw PredicateRefusal("NOT cannot negate BETWEEN") }
    return [
      Filter(key, .greaterThanOrEquals, own(bounds[0]), options: options),
      Filter(key, .lessThanOrEquals, own(bounds[1]), options: options),
    ]
  }

  private func range(negated: Bool) -> CloudKitModel.Comparator {
    switch comparison {
    case .lessThan: negated ? .greaterThanOrEquals : .lessThan
    case .lessThanOrEqual: negated ? .greaterThan : .lessThanOrEquals
    case .greaterThan: negated ? .lessThanOrEquals : .greaterThan
    default: negated ? .lessThan : .greaterThanOrEquals
    }
  }

  private func filter(
    _ comparator: CloudKitModel.Comparator, _ value: RecordValue, _ negated: Bool
  ) throws(PredicateRefusal) -> Filter {
    let comparator = negated ? comparator.negation ?? comparator : comparator
    return Filter(key, comparator, value, options: options)
  }

  private func value() throws(PredicateRefusal) -> RecordValue {
    if case .value(let value) = operand { return own(value) }
    return try list("a value is missing")
  }

  /// Returns the right side as a list value.
  private func list(_ reason: String) throws(PredicateRefusal) -> RecordValue {
    guard case .list(let values) = operand else { throw PredicateRefusal(reason) }
    do {
      return try RecordValue(listOf: values.map { own($0) }, field: key.description)
    } catch {
      throw PredicateRefusal(error.reason)
    }
  }

  /// Replaces a reference by its record name when the field is the name of a record or of a user.
  private func own(_ value: RecordValue) -> RecordValue {
    guard case .system(let field) = key, field.type == .string,
      case .reference(let reference) = value
    else { return value }
    return .string(reference.recordName)
  }
}
