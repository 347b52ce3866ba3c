internal import PredicateLanguage

extension NSCoder {
  /// Foundation on Linux cannot archive predicates, so their format goes in their place, on every
  /// platform alike.
  func encodePredicate(_ predicate: NSPredicate, forKey key: String) {
    encodeOptional(predicate.canonicalFormat, forKey: key)
  }

  /// The predicate of an archive. One made of a block comes back as one that no search accepts.
  func decodePredicate(forKey key: String) -> NSPredicate? {
    guard let format = decodeOptionalString(forKey: key) else { return nil }
    if format == PredicatePrinter.text(PredicateNode.block) { return .predicate(.block) }
    do {
      return .predicate(try PredicateParser.parse(format))
    } catch {
      failWithError(CKError(.invalidArguments, String(describing: error)))
      return nil
    }
  }
}
