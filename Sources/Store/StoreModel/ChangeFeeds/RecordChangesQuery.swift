import CloudKitModel

/// A query of a zone's change feed.
public struct RecordChangesQuery: Sendable {
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
  /// The reader. The page returns its ``ClientChangeToken``. In the public database, its roles
  /// decide which records the page shows. Nil for an anonymous reader.
  public var reader: ChangeOrigin?
  /// Whether the page shows everything in the zone, regardless of grants, and also serves the
  /// default zone of a private database. For administrators.
  public var showsEverything = false

  public init(
    zoneID: ZoneID, token: String? = nil, limit: Int = ServiceLimits.recordsPerPage,
    sizeLimit: Int = .max, isReversed: Bool = false, recordTypes: Set<String>? = nil,
    reader: ChangeOrigin? = nil
  ) {
    self.zoneID = zoneID
    self.token = token
    self.limit = limit
    self.sizeLimit = sizeLimit
    self.isReversed = isReversed
    self.recordTypes = recordTypes
    self.reader = reader
  }
}
