import CloudKitModel
import StoreModel

extension RecordService {
  /// Searches through the indexes of the filters and sort keys, and checks all filters on each
  /// candidate record.
  ///
  /// - Unsorted results come in the order of the index with the fewest entries for one of the
  ///   filters. Sorted results come in the order of the first sort key's index, unless the filters
  ///   leave so few records that sorting those is cheaper. Indexes of other filters exclude most
  ///   records that cannot match before they are read.
  /// - A filter without an index (folded strings) reads every record of the type, unless another
  ///   filter has one.
  /// - Complexity: for one filter and one independent sort key, about the square root of the number
  ///   of records times that of a page in index entries. At worst, if the filter excludes the
  ///   records that the sort key puts first, as many entries as there are records.
  ///
  /// - Parameters:
  ///   - query: the query. Its limit is brought to 1 to `ServiceLimits.recordsPerPage`.
  ///   - database: the database to search.
  /// - Returns: a page of complete records, with a continuation marker if there are more.
  /// - Throws: ``ItemFailure`` for a query that is invalid or does not fit the schema.
  func records(
    matching query: RecordQuery, in database: DatabaseID
  ) async throws -> RecordPage {
    let effort = searchEffort
    return try await transactions.read { transaction in
      let address = try DatabaseTable(transaction: transaction).address(of: database)
      var query = query
      query.zoneID = query.zoneID.map { address.canonical($0) }
      do throws(ModelError) {
        try query.query.validate()
      } catch {
        throw ItemFailure(error)
      }
      query.limit = min(max(1, query.limit), ServiceLimits.recordsPerPage)
      return try RecordSearch(
        query, in: database, at: address, transaction: transaction, effort: effort)?.run()
        ?? RecordPage(records: [], continuation: nil)
    }
  }
}
