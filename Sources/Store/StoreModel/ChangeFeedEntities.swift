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

/// A part of a zone's change feed.
public struct RecordChangesPage: Sendable {
  public var changes: [RecordChange]
  /// Stands for what was read up to here.
  public var token: String
  /// Whether there is more to read now.
  public var hasMore: Bool
  /// Bytes that the changes take, roughly.
  public var size: Int
  /// What the reader left with its last changes of the zone.
  public var clientChangeToken: [UInt8]?

  public init(
    changes: [RecordChange], token: String, hasMore: Bool, size: Int = 0,
    clientChangeToken: [UInt8]? = nil
  ) {
    self.changes = changes
    self.token = token
    self.hasMore = hasMore
    self.size = size
    self.clientChangeToken = clientChangeToken
  }
}

/// A part of a database's change feed.
public struct ZoneChangesPage: Sendable {
  public var changes: [ZoneChange]
  /// Stands for what was read up to here.
  public var token: String
  /// Whether there is more to read now.
  public var hasMore: Bool

  public init(changes: [ZoneChange], token: String, hasMore: Bool) {
    self.changes = changes
    self.token = token
    self.hasMore = hasMore
  }
}
