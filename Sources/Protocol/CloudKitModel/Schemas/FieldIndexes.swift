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

  /// Returns the options that a field of this type may have. An encrypted field may have none.
  ///
  /// Bytes may be queryable, and references sortable, without an effect. Apple's schemas have such
  /// fields.
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

  /// Returns the options of a field that the `development` environment creates. They are all that
  /// the type can use.
  public static func implicit(for type: FieldType, isEncrypted: Bool = false) -> FieldIndexes {
    guard !isEncrypted else { return [] }
    switch type.element {
    case .asset, .bytes: return []
    case .reference, .location: return [.queryable]
    case .string, .int64, .double, .timestamp: return allowed(for: type)
    }
  }

  /// Whether the server keeps the field's values in its value index.
  public var usesValues: Bool { !isDisjoint(with: [.queryable, .sortable]) }
}

extension Filter {
  /// The options of which the filter's field needs at least one.
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
  /// The options of which the field needs at least one. An order by distance needs no sortable
  /// field.
  public var usableIndexes: FieldIndexes {
    relativeLocation == nil ? [.sortable] : [.queryable, .sortable]
  }
}
