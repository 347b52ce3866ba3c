import CloudKitModel
import StoreModel

extension RecordService {
  /// Searches a database for one page of a query. The value index gives *candidates*, on each of
  /// which all filters are checked.
  ///
  /// - Without sort keys, the search follows the index of the filter with the fewest entries, and
  ///   the results have its order. The indexes of the other filters exclude most other records
  ///   before they are read.
  /// - With sort keys, it follows the index of the first one, or reads and sorts all candidates if
  ///   that costs less.
  /// - Some filters have no index, such as a comparison of texts without regard to case. With only
  ///   such filters, every record of the type may have to be read.
  ///
  /// - Complexity: O(√(*n* · *p*)) index entries for *n* records of the type and *p* records of a
  ///   page, with one filter and one sort key whose values are independent. At worst O(*n*): if the
  ///   filter excludes the records that the sort key puts first.
  /// - Parameter query: a limit is brought within 1 to `ServiceLimits.recordsPerPage`.
  /// - Returns: complete records, with a continuation marker if there are more.
  /// - Throws: ``ItemFailure`` for a query that is invalid or does not fit the schema, and if the zone
  ///   does not exist. The code is ``ItemFailure/Code/notReady`` if the index of a field is still
  ///   being built.
  public func records(
    matching query: RecordQuery, in database: DatabaseID
  ) async throws -> RecordPage {
    let effort = searchEffort
    return try await transactions.read { transaction in
      var (database, query) = (database, query)
      var zone: SharedZone?
      if let shared = try SharedDatabase.at(database, in: transaction) {
        guard let zoneID = query.zoneID else {
          throw ItemFailure(
            .invalid, field: "zoneID", "a query of the shared database needs a zone; name one")
        }
        let found = try shared.existingZone(zoneID)
        query = found.naming.inward(query)
        database = found.database
        zone = found
      }
      let address = try DatabaseTable(transaction: transaction).address(of: database)
      query.zoneID = query.zoneID.map { address.canonical($0) }
      do throws(ModelError) {
        try query.query.validate()
      } catch {
        throw ItemFailure(error)
      }
      query.limit = min(max(1, query.limit), ServiceLimits.recordsPerPage)
      let search = try RecordSearch(
        query, in: database, at: address, shared: zone, transaction: transaction, effort: effort)
      guard let search, database != .vacant else {
        return RecordPage(records: [], continuation: nil)
      }
      return try search.run()
    }
  }
}
