import CloudKitModel
import StoreModel

extension RecordService {
  /// Searches a database for one page of a query. The value index gives *candidates*: the records
  /// that may match. The method then checks all filters on each candidate.
  ///
  /// - Without sort keys, the method follows the index of the filter that has the fewest entries.
  ///   The results are in the order of that index. The indexes of the other filters exclude most
  ///   records that cannot match, before these records are read.
  /// - With sort keys, the method follows the index of the first sort key. If the filters leave so
  ///   few candidates that it costs less to read and sort them all, it does that instead.
  /// - Some filters have no index, such as a comparison of texts without regard to case. If a query
  ///   has only such filters, the method may have to read every record of the type.
  ///
  /// - Complexity: O(√(*n* · *p*)) index entries for *n* records of the type and *p* records of a
  ///   page, with one filter and one sort key whose values are independent. At worst O(*n*): if the
  ///   filter excludes the records that the sort key puts first.
  ///
  /// - Parameters:
  ///   - query: the query. A limit below 1 counts as 1, a limit above
  ///     `ServiceLimits.recordsPerPage` as that number.
  ///   - database: the database to search.
  /// - Returns: a page of complete records, with a continuation marker if there are more.
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
