/// The comparison that a filter makes between a field and its value. The raw values are the
/// web-services names.
///
/// ``Filter/matches(_:)`` defines the meaning of each comparator.
public enum Comparator: String, Sendable, Hashable, CaseIterable {
  case equals = "EQUALS"
  case notEquals = "NOT_EQUALS"
  case lessThan = "LESS_THAN"
  case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
  case greaterThan = "GREATER_THAN"
  case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
  case near = "NEAR"
  case containsAllTokens = "CONTAINS_ALL_TOKENS"
  case containsAnyTokens = "CONTAINS_ANY_TOKENS"
  case isIn = "IN"
  case notIn = "NOT_IN"
  case listContains = "LIST_CONTAINS"
  case notListContains = "NOT_LIST_CONTAINS"
  case listContainsAll = "LIST_CONTAINS_ALL"
  case notListContainsAll = "NOT_LIST_CONTAINS_ALL"
  case listContainsAny = "LIST_CONTAINS_ANY"
  case notListContainsAny = "NOT_LIST_CONTAINS_ANY"
  case beginsWith = "BEGINS_WITH"
  case notBeginsWith = "NOT_BEGINS_WITH"
  case listMemberBeginsWith = "LIST_MEMBER_BEGINS_WITH"
  case notListMemberBeginsWith = "NOT_LIST_MEMBER_BEGINS_WITH"

  /// The relation between a field and a value that a comparator tests. A comparator with `NOT_`
  /// tests that the relation does not hold.
  public enum Relation: Sendable, Hashable, CaseIterable {
    case equals, lessThan, lessThanOrEquals, greaterThan, greaterThanOrEquals, near
    case containsAllTokens, containsAnyTokens
    case isIn, listContains, listContainsAll, listContainsAny
    case beginsWith, listMemberBeginsWith

    /// Whether the relation compares by order: `<`, `<=`, `>` or `>=`.
    public var isRange: Bool {
      switch self {
      case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals: true
      case .equals, .near, .containsAllTokens, .containsAnyTokens, .isIn, .listContains,
        .listContainsAll, .listContainsAny, .beginsWith, .listMemberBeginsWith:
        false
      }
    }

    /// Whether the relation compares the elements of a list field.
    public var comparesList: Bool {
      switch self {
      case .listContains, .listContainsAll, .listContainsAny, .listMemberBeginsWith: true
      case .equals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .near,
        .containsAllTokens, .containsAnyTokens, .isIn, .beginsWith:
        false
      }
    }

    /// Whether the relation searches for words.
    public var comparesTokens: Bool { self == .containsAllTokens || self == .containsAnyTokens }
  }

  /// The relation that the comparator tests, without its negation.
  public var relation: Relation { meaning.relation }

  /// Whether the comparator is a `NOT_…` comparator.
  public var isNegated: Bool { meaning.isNegated }

  /// The relation and the negation of each comparator. ``relation`` and ``isNegated`` read this
  /// table.
  private var meaning: (relation: Relation, isNegated: Bool) {
    switch self {
    case .equals: (.equals, false)
    case .notEquals: (.equals, true)
    case .lessThan: (.lessThan, false)
    case .lessThanOrEquals: (.lessThanOrEquals, false)
    case .greaterThan: (.greaterThan, false)
    case .greaterThanOrEquals: (.greaterThanOrEquals, false)
    case .near: (.near, false)
    case .containsAllTokens: (.containsAllTokens, false)
    case .containsAnyTokens: (.containsAnyTokens, false)
    case .isIn: (.isIn, false)
    case .notIn: (.isIn, true)
    case .listContains: (.listContains, false)
    case .notListContains: (.listContains, true)
    case .listContainsAll: (.listContainsAll, false)
    case .notListContainsAll: (.listContainsAll, true)
    case .listContainsAny: (.listContainsAny, false)
    case .notListContainsAny: (.listContainsAny, true)
    case .beginsWith: (.beginsWith, false)
    case .notBeginsWith: (.beginsWith, true)
    case .listMemberBeginsWith: (.listMemberBeginsWith, false)
    case .notListMemberBeginsWith: (.listMemberBeginsWith, true)
    }
  }

  /// The `NOT_…` counterpart of this comparator; nil for a comparator without a counterpart, such
  /// as `LESS_THAN`, and for a `NOT_…` comparator.
  public var negation: Comparator? {
    isNegated ? nil : Self.allCases.first { $0.isNegated && $0.relation == relation }
  }
}
