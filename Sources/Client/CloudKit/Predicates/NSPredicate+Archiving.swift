internal import PredicateLanguage

extension NSCoder {
  /// Encodes the canonical format of a predicate under `key`.
  ///
  /// Foundation on Linux cannot archive predicates. The archive contains the format on all
  /// platforms, so it is the same everywhere.
  func encodePredicate(_ predicate: NSPredicate, forKey key: String) {
    encodeOptional(predicate.canonicalFormat, forKey: key)
  }

  /// Decodes the predicate under `key`.
  ///
  /// - Returns: Nil if there is none. Nil, and a failed coder, if the format cannot be parsed. A
  ///   predicate that was made from a block comes back as one that no query accepts.
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
