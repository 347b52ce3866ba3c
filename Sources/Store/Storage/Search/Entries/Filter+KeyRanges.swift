import CloudKitModel

extension Filter {
  /// Lists of ordered, disjoint ranges of the value index. A record that can pass the filter is in
  /// at least one range of each list; none if the index does not help.
  ///
  /// Records that cannot pass may be in the ranges, and a record with a list several times. For
  /// example, a filter for lists with `a` and `b` gives two lists of ranges, each with one member
  /// and ``ValueKey/longList``.
  func keyRanges(in fieldType: FieldType) -> [[KeyRange]] {
    comparator.isNegated ? [] : rangesOfRelation(in: fieldType)
  }

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

  /// Ranges whose records all fail a `NOT_…` filter; none if the index does not help.
  func excludedRanges(in fieldType: FieldType) -> [KeyRange] {
    let relation = comparator.relation
    guard comparator.isNegated, relation != .listContainsAll, let value else { return [] }
    let element = fieldType.element
    let single: [RecordValue]
    if case .list(_, let values) = value { single = values } else { single = [value] }
    let isExact = single.allSatisfy { value in
      switch (element, value) {
      case (.string, .string(let text)):
        // Other texts may have the same truncated key, and may pass the filter.
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

  /// As ``keyRanges(in:)``, for the words that a record must have.
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

  /// A long list has the key ``ValueKey/longList`` instead of its members.
  private static func memberRanges(_ values: [RecordValue], in element: ValueType) -> [KeyRange] {
    KeyRange.union(ranges(of: values, in: element) + [KeyRange(ValueKey.longList)])
  }

  private static func ranges(of values: [RecordValue], in element: ValueType) -> [KeyRange] {
    KeyRange.union(values.compactMap { bounds(of: $0, in: element) })
  }

  /// From the nearest value below that the field can have to the nearest above. nil for a value
  /// without a key, such as NaN.
  private static func bounds(of value: RecordValue, in element: ValueType) -> KeyRange? {
    switch (element, value) {
    case (.int64, .double(let double)):
      guard !double.isNaN else { return nil }
      return KeyRange(
        lower: ValueKey.key(of: whole(double.rounded(.down))),
        upper: ValueKey.key(of: whole(double.rounded(.up))))
    case (.double, .int64(let integer)):
      // Rounding does not change the order of numbers. So the nearest double serves as the lower
      // and the upper bound.
      return ValueKey.key(of: Double(integer)).map { KeyRange($0) }
    case (.string, .reference(let reference)):
      return KeyRange(ValueKey.key(of: reference.recordName))
    default:
      return ValueKey.key(of: value).map { KeyRange($0) }
    }
  }

  private static func whole(_ double: Double) -> Int64 {
    Int64(exactly: double) ?? (double < 0 ? .min : .max)
  }

  private static func prefixRange(_ value: RecordValue) -> KeyRange? {
    guard case .string(let prefix) = value else { return nil }
    let key = ValueKey.key(of: prefix)
    // 0xFF occurs in no UTF-8 text, so this key is after every text with the prefix.
    return KeyRange(lower: key, upper: key + [0xFF])
  }
}
