import CloudKitModel

extension SQLRecordStore {
  /// Searches through the filter that promises the fewest records, and checks all filters on each.
  ///
  /// - Unsorted results come in the order of the index that was used.
  /// - With one sort key they are read from the value index in order, unless a filter leaves so few
  ///   that sorting them is cheaper. With several, and with a sort by distance, every record that
  ///   passes the filters is read for each page; only a page of them is kept in memory.
  /// - A filter without help from the index (`NOT_…`, tokens, folded strings) looks at every record
  ///   of the type unless another filter helps.
  public func records(
    matching query: RecordQuery, in database: DatabaseID
  ) async throws -> RecordPage {
    try await read { session in
      let address = try session.address(of: database)
      var query = query
      query.zoneID = query.zoneID.map { session.canonical($0, in: address) }
      do throws(ModelError) {
        try query.query.validate()
      } catch {
        throw ItemFailure(error)
      }
      query.limit = min(max(1, query.limit), ServiceLimits.recordsPerPage)
      return try RecordSearch(query, in: database, at: address, session: session)?.run()
        ?? RecordPage(records: [], continuation: nil)
    }
  }
}
