package import CloudKitModel

extension CKQuery {
  /// Returns the query as a request contains it.
  ///
  /// - Throws: `invalidArguments` for a predicate, sort descriptor or name that CloudKit does not
  ///   support.
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
