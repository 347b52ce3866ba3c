#if !canImport(ObjectiveC)
internal import CloudKitModel
internal import PredicateLanguage

/// A predicate on Linux that stores its parsed format, as a tree of comparisons.
///
/// Foundation on Linux has no initializers for formats, and code cannot read the parts of its
/// predicates. So ``PredicateFormatConstructible`` makes predicates of this class. They are
/// immutable.
final class FormatPredicate: NSPredicate {
  let tree: PredicateNode
  /// The server's filters from which the predicate was made; nil if it was made from a format. They
  /// are stored because some filters cannot be written as a format.
  let filters: [Filter]?

  /// Makes a predicate from a tree. `filters` are the server's filters from which the tree was made;
  /// nil if there are none.
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

  /// The canonical format. Formats with the same conditions in the same order have the same
  /// canonical format.
  override var predicateFormat: String { PredicatePrinter.text(tree) }

  override var description: String { predicateFormat }

  /// Returns this object, because a predicate is immutable.
  override func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns whether a `CKRecord` satisfies the predicate. Stops the program for any other object,
  /// because Foundation on Linux cannot read its properties.
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
  /// The parsed format of the predicate; nil for predicates of Foundation's own classes.
  var ownTree: PredicateNode? { (self as? FormatPredicate)?.tree }

  var ownFilters: [Filter]? { (self as? FormatPredicate)?.filters }

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
