import CloudKitModel

/// A query of a zone's change feed.
public struct RecordChangesQuery: Sendable {
  /// The zone whose changes are read.
  public var zoneID: ZoneID
  /// The position to continue from; nil begins with all records of the zone.
  public var token: String?
  /// The most changes in a page, up to 200; 0 asks only whether there are any.
  public var limit: Int
  /// The size in bytes after which a page ends, as ``RecordChangesPage/size`` counts it. A page
  /// holds at least one change.
  public var sizeLimit: Int
  /// Whether the newest change comes first.
  public var isReversed: Bool
  /// The types of the records to report; nil means all.
  public var recordTypes: Set<String>?
  /// The reader. An administrator can also read the default zone of a private database.
  public var caller: Caller
  /// The client's name for its device. The page returns the device's ``ClientChangeToken``.
  public var deviceID: String?

  /// Creates a query; the defaults ask for the first page of a whole zone, in the order of the
  /// changes.
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
