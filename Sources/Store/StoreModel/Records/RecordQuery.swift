import CloudKitModel

/// A page of a search for records.
///
/// In the public database, records that the caller may not read take no part: they are neither found nor
/// counted, and neither pages nor continuations depend on them.
public struct RecordQuery: Sendable, Hashable {
  public var query: Query
  /// The zone to search; nil searches every zone of the database.
  public var zoneID: ZoneID?
  /// Records at most, 1 to ``ServiceLimits/recordsPerPage``.
  public var limit: Int
  /// From the page before; nil for the first. It continues the same query of the same caller in the
  /// same database only.
  public var continuation: String?
  /// The user record name of the caller; nil for one who is not signed in.
  public var caller: String?
  /// Whether all records are found, whatever the grants say: for who runs the server.
  public var ignoresGrants = false

  public init(
    query: Query, zoneID: ZoneID?, limit: Int, continuation: String? = nil, caller: String? = nil
  ) {
    self.query = query
    self.zoneID = zoneID
    self.limit = limit
    self.continuation = continuation
    self.caller = caller
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
