#if !canImport(ObjectiveC)
internal import CloudKitModel
internal import PredicateLanguage

/// A predicate that was made from a format and keeps the parsed tree.
///
/// Foundation on Linux has no initializers for formats, and its predicates cannot be inspected.
/// ``PredicateFormatConstructible`` makes predicates of this class instead. The predicate cannot
/// change.
final class FormatPredicate: NSPredicate {
  /// The parsed format, with its arguments.
  let tree: PredicateNode
  /// The filters that the predicate was made from; nil if it was made from a format. Some filters
  /// have no format that leads to the same filters again.
  let filters: [Filter]?

  /// Makes a predicate from a tree and, if there are any, the filters that the tree was made from.
  init(_ tree: PredicateNode, filters: [Filter]? = nil) {
    self.tree = tree
    self.filters = filters
    super.init(value: true)
  }

  /// Parses a format. Stops the program if the format does not follow the grammar or lacks an
  /// argument, as Foundation does on Apple's systems.
  convenience init(format: String, arguments: [Any]) {
    do {
      self.init(
        try PredicateParser.parse(format, arguments: arguments.map { PredicateArgument($0) }))
    } catch {
      stopForInvalidArgument(String(describing: error))
    }
  }

  /// The canonical format. It is the same for all formats with the same conditions in the same
  /// order.
  override var predicateFormat: String { PredicatePrinter.text(tree) }

  override var description: String { predicateFormat }

  /// Returns the predicate itself, which cannot change.
  override func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns whether a `CKRecord` satisfies the predicate. Stops the program for other objects,
  /// whose properties Foundation on Linux cannot read.
  override func evaluate(
    with object: Any?, substitutionVariables bindings: [String: Any]?
  ) -> Bool {
    guard let record = object as? CKRecord else {
      stopForInvalidArgument(
        "only a CKRecord can be evaluated with the predicate \(predicateFormat)")
    }
    return record.passes(tree)
  }

  override func evaluate(with object: Any?) -> Bool {
    evaluate(with: object, substitutionVariables: nil)
  }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? FormatPredicate else { return false }
    return tree == other.tree
  }

  override var hash: Int { tree.hashValue }
}

extension NSPredicate {
  /// The parsed format of the predicate; nil for Foundation's other kinds of predicates.
  var ownTree: PredicateNode? { (self as? FormatPredicate)?.tree }

  /// The filters that the predicate was made from; nil if it was not made from filters.
  var ownFilters: [Filter]? { (self as? FormatPredicate)?.filters }

  /// Makes a predicate from a tree and, if there are any, the filters that the tree was made from.
  static func predicate(_ tree: PredicateNode, filters: [Filter]? = nil) -> NSPredicate {
    FormatPredicate(tree, filters: filters)
  }
}

extension CKRecord {
  /// Returns whether the record satisfies the tree.
  ///
  /// `OR` and `NOT` are allowed everywhere here, unlike in a query. Each comparison has the meaning
  /// that it has on a server. Stops the program for a comparison that CloudKit does not support.
  fileprivate func passes(_ node: PredicateNode) -> Bool {
    switch node {
    case .constant(let value): return value
    case .not(let inner): return !passes(inner)
    case .and(let nodes): return nodes.allSatisfy { passes($0) }
    case .or(let nodes): return nodes.contains { passes($0) }
    case .comparison, .block:
      do {
        let record = searchableModel()
        return try PredicateLowering(now: .now).filters(for: node)
          .allSatisfy { $0.matches(record) }
      } catch {
        stopForInvalidArgument("\(error)")
      }
    }
  }
}
#endif
