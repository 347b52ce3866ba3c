/// How a filter compares a field with its value. The raw values are the web-services names.
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

  /// The comparator that this one is the opposite of, for the `NOT_…` forms; nil for the others.
  public var negated: Comparator? {
    switch self {
    case .notEquals: .equals
    case .notIn: .isIn
    case .notListContains: .listContains
    case .notListContainsAll: .listContainsAll
    case .notListContainsAny: .listContainsAny
    case .notBeginsWith: .beginsWith
    case .notListMemberBeginsWith: .listMemberBeginsWith
    default: nil
    }
  }

  /// The `NOT_…` form of this comparator, where there is one.
  public var negation: Comparator? {
    Self.allCases.first { $0.negated == self }
  }

  /// Whether the comparator asks for an order: `<`, `<=`, `>`, `>=`.
  public var isRange: Bool {
    switch self {
    case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals: true
    default: false
    }
  }

  /// Whether the comparator looks into a list field.
  public var comparesList: Bool {
    switch negated ?? self {
    case .listContains, .listContainsAll, .listContainsAny, .listMemberBeginsWith: true
    default: false
    }
  }
}
