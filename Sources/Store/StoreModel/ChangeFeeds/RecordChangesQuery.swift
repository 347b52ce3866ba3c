import CloudKitModel

/// A request for a page of a zone's change feed.
public struct RecordChangesQuery: Sendable {
  /// The zone whose changes are read.
  public var zoneID: ZoneID
  /// The change token of the previous page, after which this page begins; nil begins with all
  /// records of the zone.
  public var token: String?
  /// The most changes in the page, 0 to 200. Other numbers count as the nearest of these. With 0,
  /// only ``RecordChangesPage/hasMore`` answers whether there are changes.
  public var limit: Int
  /// The size in bytes at which a page ends, as ``RecordChangesPage/size`` counts it. The last
  /// change of a page may exceed this size.
  public var sizeLimit: Int
  /// Whether the newest change comes first.
  public var isReversed: Bool
  /// The types of the records to report; nil means all types.
  public var recordTypes: Set<String>?
  /// The reader. An administrator can also read the default zone of a private database.
  public var caller: Caller
  /// The client's name for its device; nil if the client sent none. The page has the
  /// ``ClientChangeToken`` of this device.
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
