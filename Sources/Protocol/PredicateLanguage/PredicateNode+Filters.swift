package import CloudKitModel

extension PredicateNode {
  /// Creates the predicate that lowers to `filters`. Programs and people see this predicate in
  /// subscriptions that a server returned.
  ///
  /// A filter without a value prints as a comparison with nil, which does not lower again.
  package init(_ filters: [Filter]) {
    switch filters.count {
    case 0: self = .constant(true)
    case 1: self.init(filters[0])
    default: self = .and(filters.map { PredicateNode($0) })
    }
  }

  /// A `NOT_…` comparator other than `NOT_EQUALS` gives `NOT` around the comparison.
  private init(_ filter: Filter) {
    guard filter != .never else {
      self = .constant(false)
      return
    }
    var comparison = PredicateComparison(filter)
    if filter.comparator == .notEquals { comparison.comparison = .notEqual }
    let isNot = filter.comparator.isNegated && filter.comparator != .notEquals
    self = isNot ? .not(.comparison(comparison)) : .comparison(comparison)
  }
}

extension PredicateComparison {
  fileprivate init(_ filter: Filter) {
    let key = PredicateTerm(filter.key)
    let value = filter.value.map { PredicateTerm($0) } ?? .null
    modifier = nil
    left = key
    right = value
    options = ""
    if filter.options.contains(.caseInsensitive) { options += "c" }
    if filter.options.contains(.diacriticInsensitive) { options += "d" }
    switch filter.comparator.relation {
    case .equals: comparison = .equal
    case .lessThan: comparison = .lessThan
    case .lessThanOrEquals: comparison = .lessThanOrEqual
    case .greaterThan: comparison = .greaterThan
    case .greaterThanOrEquals: comparison = .greaterThanOrEqual
    case .near:
      left = .function("distanceToLocation:fromLocation:", [key, value])
      comparison = .lessThanOrEqual
      right = .value(.double(filter.distance ?? 0))
    case .containsAllTokens where filter.key == .allText:
      left = .selfObject
      comparison = .contains
    case .containsAllTokens:
      comparison = .tokenMatches
      options = "cdl"
    case .containsAnyTokens:
      modifier = .any
      left = .function("tokenize:using:", [value, .value(.string("Cdl"))])
      comparison = .isIn
      right = key
    case .isIn: comparison = .isIn
    case .listContains, .listContainsAll: comparison = .contains
    case .listContainsAny:
      modifier = .any
      comparison = .isIn
    case .beginsWith: comparison = .beginsWith
    case .listMemberBeginsWith:
      modifier = .any
      comparison = .beginsWith
    }
  }
}

extension PredicateTerm {
  fileprivate init(_ key: FieldKey) {
    switch key {
    case .field(let name): self = .keyPath([name])
    case .allText: self = .keyPath(["allTokens"])
    case .system(let field): self = .keyPath([field.nativeName])
    }
  }

  fileprivate init(_ value: RecordValue) {
    if case .list(_, let values) = value {
      self = .aggregate(values.map { .value($0) })
    } else {
      self = .value(value)
    }
  }
}

extension SystemField {
  fileprivate var nativeName: String {
    switch self {
    case .recordName: "recordID"
    case .createdTimestamp: "creationDate"
    case .modifiedTimestamp: "modificationDate"
    case .createdUserRecordName: "creatorUserRecordID"
    case .modifiedUserRecordName: "lastModifiedUserRecordID"
    case .recordChangeTag: "recordChangeTag"
    case .parent: "parent"
    case .share: "share"
    }
  }
}
