import CloudKitModel

/// A search for one page of records.
///
/// In the public database, a search does not find records that the caller may not read. These
/// records also do not affect the size of pages and the continuations.
public struct RecordQuery: Sendable, Hashable {
  /// The filters and sort orders.
  public var query: Query
  /// The zone to search; nil searches every zone of the database.
  public var zoneID: ZoneID?
  /// The most records in the page, 1 to `ServiceLimits.recordsPerPage`.
  public var limit: Int
  /// The continuation of the previous page; nil for the first page. A continuation is valid only
  /// for the same query of the same caller in the same database.
  public var continuation: String?
  /// The caller of the search. In a public database, the search finds only records that this caller
  /// may read.
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
  /// The continuation for the next page; nil if there is none. It contains the position of the last
  /// record in the order, and not a count. So if records change between two pages, no other record
  /// is missing or repeated.
  public var continuation: String?

  /// Creates a page. A continuation of nil ends the search.
  public init(records: [Record], continuation: String?) {
    self.records = records
    self.continuation = continuation
  }
}
