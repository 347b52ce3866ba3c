package import CloudKitModel

extension CKQuery {
  /// The query as a server understands it.
  ///
  /// - Parameter now: what `now()` in the predicate means.
  /// - Throws: `CKError.invalidArguments` for a predicate, sort descriptor or name that CloudKit does
  ///   not support.
  package func model(now: Timestamp) throws(CKError) -> Query {
    var query = Query(recordType: recordType, filters: try predicate.filters(now: now))
    for descriptor in sortDescriptors ?? [] { query.sortKeys.append(try SortKey(descriptor)) }
    do {
      try query.validate()
    } catch {
      throw CKError(error)
    }
    return query
  }
}
