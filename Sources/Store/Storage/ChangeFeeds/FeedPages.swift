import CloudKitModel

/// A request for a page of a zone's change feed.
public struct RecordChangesQuery: Sendable {
  /// The zone whose changes are read.
  public var zoneID: ZoneID
  /// The change token of the previous page; nil begins with all records of the zone.
  public var token: String?
  /// The most changes in the page, 0 to 200; other numbers count as the nearest. With 0, only
  /// ``RecordChangesPage/hasMore`` answers.
  public var limit: Int
  /// The bytes at which a page ends, as ``RecordChangesPage/size`` counts them. The last change
  /// may exceed them.
  public var sizeLimit: Int
  /// Whether the newest change comes first.
  public var isReversed: Bool
  /// The types of the records to report; nil means all types.
  public var recordTypes: Set<String>?
  /// The reader. An administrator can also read the default zone of a private database.
  public var caller: Caller
  /// The client's name for its device, if it sent one. The page has the device's
  /// ``ClientChangeToken``.
  public var deviceID: String?

  /// Creates a query, by default for the first page of a whole zone.
  public init(
    zoneID: ZoneID, token: String? = nil, limit: Int = ServiceLimits.recordsPerPage,
    sizeLimit: Int = .max, isReversed: Bool = false, recordTypes: Set<String>? = nil,
    caller: Caller = .anonymous, deviceID: String? = nil
  ) {
    self.zoneID = zoneID
    self.token = token
    self.limit = limit
    self.sizeLimit = sizeLimit
    self.isReversed = isReversed
    self.recordTypes = recordTypes
    self.caller = caller
    self.deviceID = deviceID
  }
}

/// A page of a zone's change feed.
public struct RecordChangesPage: Sendable {
  /// The changed and deleted records, in the order that the query asks for.
  public var changes: [RecordChange]
  /// The change token of the position after this page.
  public var token: String
  /// Whether the feed already has changes after this page.
  public var hasMore: Bool
  /// The approximate size of the changes in bytes.
  public var size = 0
  /// The token that the reading device sent with its last changes of the zone
  /// (``ClientChangeToken``).
  public var clientChangeToken: [UInt8]?
}

/// A page of a database's change feed.
public struct ZoneChangesPage: Sendable {
  /// The changed and deleted zones.
  public var changes: [ZoneChange]
  /// The change token of the position after this page.
  public var token: String
  /// Whether the feed already has changes after this page.
  public var hasMore: Bool
}
