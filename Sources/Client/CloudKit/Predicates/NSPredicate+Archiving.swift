internal import PredicateLanguage

extension NSCoder {
  /// Encodes the canonical format of a predicate under `key`.
  ///
  /// Foundation on Linux cannot archive predicates. The archive has the format on all platforms, so
  /// archives are the same everywhere.
  func encodePredicate(_ predicate: NSPredicate, forKey key: String) {
    encodeOptional(predicate.canonicalFormat, forKey: key)
  }

  /// Decodes the predicate under `key`.
  ///
  /// - Returns: Nil if the archive has no predicate. Nil also if the format cannot be parsed; the
  ///   decoding then fails. A predicate that was made from a block becomes a predicate that no
  ///   query accepts.
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
