import Foundation

extension Filter {
  /// Returns whether `record` passes the filter.
  ///
  /// This method defines the meaning of a filter. The subscription index, queries and explanations
  /// follow this definition.
  ///
  /// Each comparator holds under one condition:
  ///
  /// - `EQUALS`: the field has the value (``RecordValue/isEqual(to:)``). Without a value: the field
  ///   is absent.
  /// - `LESS_THAN`, `LESS_THAN_OR_EQUALS`, `GREATER_THAN`, `GREATER_THAN_OR_EQUALS`: field and
  ///   value have that order (``RecordValue/order(to:)``).
  /// - `NEAR`: the great-circle distance is at most `distance` metres.
  /// - `CONTAINS_ALL_TOKENS`: every token (word) of the value is a token of the field. Without a
  ///   token in the value, the comparator does not hold.
  /// - `CONTAINS_ANY_TOKENS`: a token of the value is a token of the field.
  /// - `IN`: the field equals an element of the value.
  /// - `LIST_CONTAINS`: an element of the field equals the value.
  /// - `LIST_CONTAINS_ALL`: each element of the value equals an element of the field. With an empty
  ///   list as the value, the comparator holds for every list field.
  /// - `LIST_CONTAINS_ANY`: an element of the value equals an element of the field.
  /// - `BEGINS_WITH`: the field's UTF-8 bytes begin with those of the value.
  /// - `LIST_MEMBER_BEGINS_WITH`: an element of the field begins with the value.
  /// - `NOT_…`: the comparator without `NOT_` does not hold.
  ///
  /// These rules apply to all comparators:
  ///
  /// - A field may be absent, or of a type that the comparator cannot use with the value. Then no
  ///   comparator without `NOT_` holds, and each comparator with `NOT_` holds. The exceptions are
  ///   `EQUALS` and `NOT_EQUALS` without a value.
  /// - Integers and doubles compare with each other; no other types do.
  /// - A system field with the name of a record or a user also equals a reference with the same
  ///   record name.
  /// - With ``Options``, the strings of both sides are folded first (``Options/fold(_:)``), also
  ///   those in lists. Without options they are compared byte for byte, so composed and decomposed
  ///   accents differ.
  /// - A NaN equals nothing, not even itself, and has no order.
  /// - A field that is marked as encrypted counts as absent.
  /// - ``TextTokens`` defines the tokens of a string. A list has the tokens of all its strings, and
  ///   ``FieldKey/allText`` has the tokens of all the record's strings. ``Options`` do not apply to
  ///   tokens.
  public func matches(_ record: Record) -> Bool {
    holds(comparator.relation, for: record) != comparator.isNegated
  }

  private func holds(_ relation: Comparator.Relation, for record: Record) -> Bool {
    if relation.comparesTokens {
      return tokensMatch(all: relation == .containsAllTokens, in: record)
    }
    guard let field = record.value(for: key) else {
      return relation == .equals && value == nil
    }
    guard let value else { return false }
    switch relation {
    case .containsAllTokens, .containsAnyTokens:
      return false  // Answered above.
    case .equals:
      return equal(field, value)
    case .lessThan:
      return order(field, value) == .less
    case .lessThanOrEquals:
      let order = order(field, value)
      return order == .less || order == .equal
    case .greaterThan:
      return order(field, value) == .greater
    case .greaterThanOrEquals:
      let order = order(field, value)
      return order == .greater || order == .equal
    case .near:
      guard case .location(let place) = field, case .location(let center) = value, let distance
      else { return false }
      return place.distance(to: center) <= distance
    case .isIn:
      guard case .list(_, let allowed) = value else { return false }
      return allowed.contains { equal(field, $0) }
    case .listContains:
      guard case .list(_, let elements) = field else { return false }
      return elements.contains { equal($0, value) }
    case .listContainsAll:
      guard case .list(_, let elements) = field, case .list(_, let wanted) = value else {
        return false
      }
      return wanted.allSatisfy { one in elements.contains { equal($0, one) } }
    case .listContainsAny:
      guard case .list(_, let elements) = field, case .list(_, let wanted) = value else {
        return false
      }
      return wanted.contains { one in elements.contains { equal($0, one) } }
    case .beginsWith:
      return begins(field, with: value)
    case .listMemberBeginsWith:
      guard case .list(_, let elements) = field else { return false }
      return elements.contains { begins($0, with: value) }
    }
  }

  private func equal(_ field: RecordValue, _ value: RecordValue) -> Bool {
    switch (field, value) {
    case (.string(let left), .string(let right)):
      return options.fold(left).hasSameBytes(as: options.fold(right))
    case (.string(let name), .reference(let reference)):
      // Only a system field can be the name of a record or a user.
      guard case .system = key else { return false }
      // A filter may use a reference in the place of such a name.
      return name.hasSameBytes(as: reference.recordName)
    case (.list(_, let left), .list(_, let right)):
      return left.count == right.count && zip(left, right).allSatisfy { equal($0, $1) }
    default:
      return field.isEqual(to: value)
    }
  }

  /// Returns the order of the two values, with the filter's options for strings.
  private func order(_ field: RecordValue, _ value: RecordValue) -> ValueOrder? {
    if !options.isEmpty, case .string(let left) = field, case .string(let right) = value {
      return RecordValue.string(options.fold(left)).order(to: .string(options.fold(right)))
    }
    return field.order(to: value)
  }

  /// Returns whether both values are strings, and the folded `field` begins with the folded
  /// `value`.
  private func begins(_ field: RecordValue, with value: RecordValue) -> Bool {
    guard case .string(let text) = field, case .string(let prefix) = value else { return false }
    return options.fold(text).utf8.starts(with: options.fold(prefix).utf8)
  }

  /// Returns whether the value's words are words of the field: all of them, or any of them if `all`
  /// is false.
  private func tokensMatch(all: Bool, in record: Record) -> Bool {
    guard case .string(let wanted) = value else { return false }
    let wantedTokens = TextTokens(wanted).tokens
    guard !wantedTokens.isEmpty else { return false }
    var present: Set<String> = []
    switch key {
    case .allText:
      for (name, value) in record.fields where !record.encryptedFields.contains(name) {
        present.formUnion(TextTokens.of(value))
      }
    case .field, .system:
      guard let value = record.value(for: key) else { return false }
      present = TextTokens.of(value)
    }
    return all ? wantedTokens.isSubset(of: present) : !wantedTokens.isDisjoint(with: present)
  }
}
