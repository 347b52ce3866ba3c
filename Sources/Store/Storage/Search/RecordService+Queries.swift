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

/// A search for one page of records.
///
/// In the public database, records that the caller may not read affect neither the results nor the
/// size of pages and the continuations.
public struct RecordQuery: Sendable, Hashable {
  /// The filters and sort orders.
  public var query: Query
  /// The zone to search; nil searches every zone of the database.
  public var zoneID: ZoneID?
  /// The most records in the page, 1 to `ServiceLimits.recordsPerPage`.
  public var limit: Int
  /// The continuation of the previous page. It is valid only for the same query of the same caller
  /// in the same database.
  public var continuation: String?
  /// The caller, whose rights limit a search in the public database.
  public var caller: Caller

  /// Creates a query, by default for the first page and a caller who has not signed in.
  public init(
    query: Query, zoneID: ZoneID?, limit: Int, continuation: String? = nil,
    caller: Caller = .anonymous
  ) {
    self.query = query
    self.zoneID = zoneID
    self.limit = limit
    self.continuation = continuation
    self.caller = caller
  }
}

/// A page of found records.
public struct RecordPage: Sendable, Hashable {
  /// The records in the order of the query.
  public var records: [Record]
  /// The continuation for the next page. It has the position of the last record in the order, not
  /// a count, so changes between two pages hide or repeat no other record.
  public var continuation: String?
}
