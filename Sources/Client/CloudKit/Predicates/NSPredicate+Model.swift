package import CloudKitModel
internal import PredicateLanguage

extension NSPredicate {
  /// What the predicate says, as far as it can be looked into.
  var node: PredicateNode {
    switch self {
    case let compound as NSCompoundPredicate:
      let nodes = compound.subpredicates.map { $0.node }
      switch compound.compoundPredicateType {
      case .and: return nodes.isEmpty ? .constant(true) : .and(nodes)
      case .or: return nodes.isEmpty ? .constant(false) : .or(nodes)
      case .not: return .not(nodes.first ?? .block)
      }
    default:
      if let tree = ownTree { return tree }
      for value in [true, false] where isEqual(NSPredicate(value: value)) {
        return .constant(value)
      }
      return .block
    }
  }

  /// The filters that the predicate stands for.
  ///
  /// - Parameter now: What `now()` means; nil for a subscription, where it is not allowed.
  /// - Throws: `CKError.invalidArguments`, naming what CloudKit cannot search for.
  package func filters(now: Timestamp?) throws(CKError) -> [Filter] {
    if let filters = ownFilters { return filters }
    do throws(PredicateSearchError) {
      return try PredicateLowering(now: now).filters(for: node)
    } catch {
      throw CKError(.invalidArguments, error.description)
    }
  }

  /// The predicate that stands for `filters`.
  package static func predicate(for filters: [Filter]) -> NSPredicate {
    predicate(PredicateNode(filters), filters: filters)
  }

  /// The canonical format, whatever kind of predicate it is.
  package var canonicalFormat: String { PredicatePrinter.text(node) }
}
