/// The options of a field in the schema language. They decide how queries and subscriptions may use
/// the field.
public struct FieldIndexes: OptionSet, Sendable, Hashable {
  /// The options as bits: 1 for queryable, 2 for sortable, 4 for searchable.
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The field may be compared for equality, membership, prefixes, ranges and distance
  /// (`QUERYABLE`).
  public static let queryable = FieldIndexes(rawValue: 1)
  /// The field may be compared by ranges and prefixes, and records may be ordered by it
  /// (`SORTABLE`).
  public static let sortable = FieldIndexes(rawValue: 2)
  /// The field may be searched for words (`SEARCHABLE`).
  public static let searchable = FieldIndexes(rawValue: 4)

  /// Returns the options that a field of this type may have if the field is not encrypted. An
  /// encrypted field may have no options.
  ///
  /// `QUERYABLE` and `SORTABLE` for bytes, and `SORTABLE` for references, are allowed because Apple's
  /// schemas contain them; they have no effect.
  public static func allowed(for type: FieldType) -> FieldIndexes {
    switch (type.element, type.isList) {
    case (.asset, _): []
    case (.string, false): [.queryable, .sortable, .searchable]
    case (.string, true): [.queryable, .searchable]
    case (_, true): [.queryable]
    case (_, false): [.queryable, .sortable]
    }
  }

  /// Returns the options of a field that the `development` environment creates. These are all
  /// options that have an effect for the type; an encrypted field has none.
  public static func implicit(for type: FieldType, isEncrypted: Bool = false) -> FieldIndexes {
    guard !isEncrypted else { return [] }
    switch type.element {
    case .asset, .bytes: return []
    case .reference, .location: return [.queryable]
    case .string, .int64, .double, .timestamp: return allowed(for: type)
    }
  }

  /// Whether the server stores the field's values in the value index, with which the server finds
  /// and sorts records.
  public var usesValues: Bool { !isDisjoint(with: [.queryable, .sortable]) }
}

extension Filter {
  /// The options that allow the filter. The filter's field must have at least one of them.
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
  /// The options that allow the sort. The field must have at least one of them. For an order by
  /// distance, the field may also be only queryable.
  public var usableIndexes: FieldIndexes {
    relativeLocation == nil ? [.sortable] : [.queryable, .sortable]
  }
}
