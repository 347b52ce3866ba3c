import CloudKitModel

/// A page of a search for records.
public struct RecordQuery: Sendable, Hashable {
  public var query: Query
  /// The zone to search; nil searches every zone of the database.
  public var zoneID: ZoneID?
  /// Records at most, 1 to ``ServiceLimits/recordsPerPage``.
  public var limit: Int
  /// From the page before; nil for the first.
  public var continuation: String?

  public init(query: Query, zoneID: ZoneID?, limit: Int, continuation: String? = nil) {
    self.query = query
    self.zoneID = zoneID
    self.limit = limit
    self.continuation = continuation
  }
}

/// What a search found.
public struct RecordPage: Sendable, Hashable {
  public var records: [Record]
  /// Asks for the next page; nil when there is none. It names the last record's place in the
  /// order, not a count, so that changes in between neither skip nor repeat other records.
  public var continuation: String?

  public init(records: [Record], continuation: String?) {
    self.records = records
    self.continuation = continuation
  }
}
