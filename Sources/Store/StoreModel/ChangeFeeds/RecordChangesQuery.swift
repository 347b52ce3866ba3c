import CloudKitModel

/// A question to a zone's change feed.
public struct RecordChangesQuery: Sendable {
  public var zoneID: ZoneID
  /// Where to go on; nil begins with everything the zone holds.
  public var token: String?
  /// Changes at most, up to 200; 0 asks only whether there are any.
  public var limit: Int
  /// Bytes after which a page ends, as ``RecordChangesPage/size`` counts them. A page holds one
  /// change at least.
  public var sizeLimit: Int
  /// Whether the newest change comes first.
  public var isReversed: Bool
  /// The types of the records to report; nil means all.
  public var recordTypes: Set<String>?
  /// Who reads: whose ``ClientChangeToken`` the page brings back, and in the public database, whose
  /// roles decide what it tells. nil for an anonymous reader.
  public var reader: ChangeOrigin?
  /// Whether everything is told that the zone holds, whatever the grants say, also of the default zone
  /// of a private database: for who runs the server.
  public var tellsAll = false

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
