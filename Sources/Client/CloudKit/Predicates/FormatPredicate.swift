#if !canImport(ObjectiveC)
internal import CloudKitModel
internal import PredicateLanguage

/// A predicate that was made from a format, and knows what it says.
///
/// Foundation's own class on Linux reads no formats and keeps no tree.
final class FormatPredicate: NSPredicate {
  let tree: PredicateNode
  /// The filters that the predicate was made from, when it was not made from a format. Some have no
  /// format that lowers to them again.
  let filters: [Filter]?

  init(_ tree: PredicateNode, filters: [Filter]? = nil) {
    self.tree = tree
    self.filters = filters
    super.init(value: true)
  }

  /// Stops the program when the format does not follow the grammar, as Foundation does.
  convenience init(format: String, arguments: [Any]) {
    do {
      self.init(
        try PredicateParser.parse(format, arguments: arguments.map { PredicateArgument($0) }))
    } catch {
      stopForInvalidArgument(String(describing: error))
    }
  }

  /// The canonical format: the same for all formats that say the same in the same order.
  override var predicateFormat: String { PredicatePrinter.text(tree) }

  override var description: String { predicateFormat }

  /// Immutable, so a copy is the predicate itself.
  override func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether a `CKRecord` passes. Foundation on Linux cannot look into other objects.
  override func evaluate(
    with object: Any?, substitutionVariables bindings: [String: Any]?
  ) -> Bool {
    guard let record = object as? CKRecord else {
      stopForInvalidArgument("only a CKRecord can be evaluated with: \(predicateFormat)")
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
  /// What the predicate says when it was made from a format; nil for Foundation's other kinds.
  var ownTree: PredicateNode? { (self as? FormatPredicate)?.tree }

  /// The filters that the predicate was made from.
  var ownFilters: [Filter]? { (self as? FormatPredicate)?.filters }

  static func predicate(_ tree: PredicateNode, filters: [Filter]? = nil) -> NSPredicate {
    FormatPredicate(tree, filters: filters)
  }
}

extension CKRecord {
  /// Whether the record passes. Here `OR` and `NOT` are free; each comparison means what it means to
  /// a server.
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
