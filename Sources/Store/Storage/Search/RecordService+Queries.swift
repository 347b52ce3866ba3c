import CloudKitModel
import StoreModel

extension RecordService {
  /// Searches through the indexes that the filters and sort keys open, and checks all filters on each
  /// record that comes of them.
  ///
  /// - Unsorted results come in the order of the index with the fewest entries for one of the filters,
  ///   sorted ones in that of the first sort key's index, unless the filters leave so few records that
  ///   sorting those is cheaper. Indexes of other filters tell of most records that they cannot match
  ///   before they are read.
  /// - A filter without help from the index (folded strings) looks at every record of the type unless
  ///   another filter helps.
  /// - Complexity: for one filter and one sort key, about the square root of the number of records
  ///   times that of a page in index entries, where the two have nothing to do with each other. At
  ///   worst, when one forbids what the other puts first, as many entries as there are records.
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
