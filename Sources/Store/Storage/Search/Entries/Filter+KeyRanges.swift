import CloudKitModel

extension Filter {
  /// Returns the ranges of the value index with all records that can pass the filter. Such a record
  /// is in one range of each list. The ranges of a list are ordered and disjoint. The result is
  /// empty if the index does not help.
  ///
  /// The ranges may contain other records too, and a list field under several of its members. The
  /// filter must fit the field's type (``validate(against:)``).
  ///
  /// For example, a filter for lists that contain all of `a` and `b` gives two lists. Each has the
  /// range of a member and that of ``ValueKey/longList``.
  func keyRanges(in fieldType: FieldType) -> [[KeyRange]] {
    comparator.isNegated ? [] : rangesOfRelation(in: fieldType)
  }

  /// Returns the ranges of the comparator without its negation.
  private func rangesOfRelation(in fieldType: FieldType) -> [[KeyRange]] {
    guard let value else { return [] }
    if !options.isEmpty, value.type.element == .string { return [] }
    let element = fieldType.element
    switch comparator.relation {
    case .equals:
      return fieldType.isList ? [] : [Self.ranges(of: [value], in: element)]
    case .lessThan, .lessThanOrEquals:
      return [
        Self.bounds(of: value, in: element).map { [KeyRange(lower: [], upper: $0.upper)] } ?? []
      ]
    case .greaterThan, .greaterThanOrEquals:
      return [
        Self.bounds(of: value, in: element)
          .map { [KeyRange(lower: $0.lower, upper: ValueKey.greatest)] } ?? []
      ]
    case .isIn:
      guard case .list(_, let allowed) = value else { return [] }
      return [Self.ranges(of: allowed, in: element)]
    case .listContains:
      return [Self.memberRanges([value], in: element)]
    case .listContainsAll:
      guard case .list(_, let wanted) = value else { return [] }
      return wanted.map { Self.memberRanges([$0], in: element) }
    case .listContainsAny:
      guard case .list(_, let wanted) = value else { return [] }
      return [Self.memberRanges(wanted, in: element)]
    case .beginsWith:
      return Self.prefixRange(value).map { [[$0]] } ?? []
    case .listMemberBeginsWith:
      return Self.prefixRange(value).map { [KeyRange.union([$0, KeyRange(ValueKey.longList)])] }
        ?? []
    case .near:
      guard case .location(let center) = value, let distance else { return [] }
      return [LocationRanges(center: center, outer: distance).ranges]
    case .containsAllTokens, .containsAnyTokens:
      return []  // ``tokenRanges`` has these.
    }
  }

  /// Returns ranges of the index whose records all fail a `NOT_…` filter. The result is empty for
  /// another filter, or if the index does not help.
  func excludedRanges(in fieldType: FieldType) -> [KeyRange] {
    let relation = comparator.relation
    guard comparator.isNegated, relation != .listContainsAll, let value else { return [] }
    let element = fieldType.element
    let single: [RecordValue]
    if case .list(_, let values) = value { single = values } else { single = [value] }
    let isExact = single.allSatisfy { value in
      switch (element, value) {
      case (.string, .string(let text)):
        // A truncated key also stands for other texts, which may pass.
        return text.utf8.count
          < ValueKey.textLimit
          + (relation == .beginsWith || relation == .listMemberBeginsWith ? 1 : 0)
      case (.int64, .int64), (.double, .double), (.timestamp, .timestamp): return true
      default: return false
      }
    }
    guard isExact else { return [] }
    return (rangesOfRelation(in: fieldType).first ?? []).filter { $0.lower != ValueKey.longList }
  }

  /// The ranges of the value index for the words that a record must have: a record that can pass is
  /// in one range of each list. Empty if the filter does not search for words.
  ///
  /// The ranges are those of a field's words (``RecordTypeEntry/Field/tokenNumber``).
  var tokenRanges: [[KeyRange]] {
    guard case .string(let text) = value else { return [] }
    let keys = TextTokens(text).tokens.map { ValueKey.key(of: $0) }
      .sorted { $0.lexicographicallyPrecedes($1) }
    let long = KeyRange(ValueKey.longList)
    switch comparator.relation {
    case .containsAllTokens: return keys.map { KeyRange.union([KeyRange($0), long]) }
    case .containsAnyTokens: return [KeyRange.union(keys.map { KeyRange($0) } + [long])]
    case .equals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .near, .isIn,
      .listContains, .listContainsAll, .listContainsAny, .beginsWith, .listMemberBeginsWith:
      return []
    }
  }

  /// Returns the ranges of lists that may have one of these members. Long lists have a key of their
  /// own, so they always may.
  private static func memberRanges(_ values: [RecordValue], in element: ValueType) -> [KeyRange] {
    KeyRange.union(ranges(of: values, in: element) + [KeyRange(ValueKey.longList)])
  }

  /// Returns the ranges of values that may equal one of these.
  private static func ranges(of values: [RecordValue], in element: ValueType) -> [KeyRange] {
    KeyRange.union(values.compactMap { bounds(of: $0, in: element) })
  }

  /// Returns the keys of the field's values nearest to a filter's value, below and above. They are
  /// equal if the field can have exactly that value. The result is nil for NaN.
  private static func bounds(of value: RecordValue, in element: ValueType) -> KeyRange? {
    switch (element, value) {
    case (.int64, .double(let double)):
      guard !double.isNaN else { return nil }
      return KeyRange(
        lower: ValueKey.key(of: whole(double.rounded(.down))),
        upper: ValueKey.key(of: whole(double.rounded(.up))))
    case (.double, .int64(let integer)):
      // Rounding is monotonic, so the nearest double bounds on either side.
      return ValueKey.key(of: Double(integer)).map { KeyRange($0) }
    case (.string, .reference(let reference)):
      return KeyRange(ValueKey.key(of: reference.recordName))
    default:
      return ValueKey.key(of: value).map { KeyRange($0) }
    }
  }

  /// Returns a whole number as an integer, or the nearest integer that exists.
  private static func whole(_ double: Double) -> Int64 {
    Int64(exactly: double) ?? (double < 0 ? .min : .max)
  }

  /// Returns the range of all texts with a prefix; nil for a value that is no text.
  private static func prefixRange(_ value: RecordValue) -> KeyRange? {
    guard case .string(let prefix) = value else { return nil }
    let key = ValueKey.key(of: prefix)
    // 0xFF occurs in no UTF-8 text, so this key is after every text with the prefix.
    return KeyRange(lower: key, upper: key + [0xFF])
  }
}
