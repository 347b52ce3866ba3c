import CloudKitModel

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

  /// Creates a page of found records.
  public init(records: [Record], continuation: String?) {
    self.records = records
    self.continuation = continuation
  }
}
