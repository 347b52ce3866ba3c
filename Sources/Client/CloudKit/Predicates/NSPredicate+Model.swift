package import CloudKitModel
internal import PredicateLanguage

extension NSPredicate {
  /// The predicate as a tree of comparisons. A part that code cannot read, such as a block of
  /// Foundation, becomes `PredicateNode.block`.
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

  /// Converts the predicate to the filters of a server's query.
  ///
  /// - Parameter now: The value of `now()`; nil for a subscription, where `now()` is not allowed.
  /// - Throws: `invalidArguments`. The description names the part that CloudKit does not support.
  package func filters(now: Timestamp?) throws(CKError) -> [Filter] {
    if let filters = ownFilters { return filters }
    do throws(PredicateSearchError) {
      return try PredicateLowering(now: now).filters(for: node)
    } catch {
      throw CKError(.invalidArguments, error.description)
    }
  }

  /// Makes a predicate from filters. The predicate stores the filters, so ``filters(now:)`` returns
  /// the same filters.
  package static func predicate(for filters: [Filter]) -> NSPredicate {
    predicate(PredicateNode(filters), filters: filters)
  }

  /// Returns whether a server finds the same records with the other predicate, by the same filters.
  /// `n BETWEEN {1, 3}` and `n >= 1 AND n <= 3` are an example.
  func isEquivalent(to other: NSPredicate) -> Bool {
    if canonicalFormat == other.canonicalFormat { return true }
    do {
      return try filters(now: nil) == other.filters(now: nil)
    } catch {
      // A predicate that no server accepts has its format alone.
      return false
    }
  }

  package var canonicalFormat: String { PredicatePrinter.text(node) }
}
