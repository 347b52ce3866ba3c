/// What a field of a record type can be used for in queries and subscriptions; the options of a
/// field in the schema language.
public struct FieldIndexes: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Equality, membership, prefixes and distance.
  public static let queryable = FieldIndexes(rawValue: 1)
  /// Ranges, prefixes and order.
  public static let sortable = FieldIndexes(rawValue: 2)
  /// Full-text search.
  public static let searchable = FieldIndexes(rawValue: 4)

  /// The options that a field of this type may have. Those of an encrypted field are none.
  ///
  /// Bytes and references may have options without an effect, for Apple's schemas have them.
  public static func allowed(for type: FieldType) -> FieldIndexes {
    switch (type.element, type.isList) {
    case (.asset, _): []
    case (.string, false): [.queryable, .sortable, .searchable]
    case (.string, true): [.queryable, .searchable]
    case (.bytes, _): [.queryable]
    case (_, true): [.queryable]
    case (_, false): [.queryable, .sortable]
    }
  }

  /// The options of a field that `development` makes when it is first saved: all that its type can
  /// use.
  public static func implicit(for type: FieldType, isEncrypted: Bool = false) -> FieldIndexes {
    guard !isEncrypted else { return [] }
    switch type.element {
    case .asset, .bytes: return []
    case .reference, .location: return [.queryable]
    case .string, .int64, .double, .timestamp: return allowed(for: type)
    }
  }

  /// Whether values of a field with these options stand in the value index.
  public var usesValues: Bool { !isDisjoint(with: [.queryable, .sortable]) }
}

extension Filter {
  /// The options of which the filter's field needs one at least.
  public var usableIndexes: FieldIndexes {
    switch comparator.relation {
    case .containsAllTokens, .containsAnyTokens: [.searchable]
    case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .beginsWith:
      [.queryable, .sortable]
    case .equals, .near, .isIn, .listContains, .listContainsAll, .listContainsAny,
      .listMemberBeginsWith:
      [.queryable]
    }
  }
}

extension SortKey {
  /// The options of which the field needs one at least: a distance needs no order.
  public var usableIndexes: FieldIndexes {
    relativeLocation == nil ? [.sortable] : [.queryable, .sortable]
  }
}
