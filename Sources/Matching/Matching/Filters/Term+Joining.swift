extension Term {
  /// Joins terms that must all be true into a normalized list; `nil` if the method finds that no
  /// record can satisfy them.
  ///
  /// - Terms that are always true are removed.
  /// - All ranges of one path become one range, their intersection.
  /// - A term that a filter implies becomes a term of its own. The index can then file the entry
  ///   under this term.
  /// - An `any` term without points is removed if it is negated. If it is not negated, no record
  ///   satisfies it.
  ///
  /// - Complexity: O(*n*²), where *n* is the number of terms.
  static func joined(_ terms: [Term]) -> [Term]? {
    var joined: [Term] = []
    var rest = Array(terms.reversed())
    while let term = rest.popLast() {
      switch term {
      case .filter(let filter, let implied?):
        joined.append(.filter(filter, implies: nil))
        rest.append(implied)
      case .always:
        continue
      case .never:
        return nil
      case .range(let path, var low, var high):
        let known = joined.firstIndex {
          if case .range(path, _, _) = $0 { true } else { false }
        }
        if let known, case .range(_, let otherLow, let otherHigh) = joined[known] {
          (low, high) = (max(low, otherLow), min(high, otherHigh))
          joined.remove(at: known)
        }
        guard low <= high else { return nil }
        joined.append(.range(path, low: low, high: high))
      case .any(_, let points, let isNegated) where points.isEmpty:
        if !isNegated { return nil }
      default:
        joined.append(term)
      }
    }
    return joined
  }
}
