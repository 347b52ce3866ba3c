import CloudKitModel

/// A request for a share by its link.
public struct ShareRequest: Sendable, Hashable {
  /// The identifier of the share, the last part of its URL.
  public var shortGUID: String
  /// Whether the answer has the root record.
  public var fetchesRootRecord: Bool

  /// Creates a request.
  public init(shortGUID: String, fetchesRootRecord: Bool = false) {
    self.shortGUID = shortGUID
    self.fetchesRootRecord = fetchesRootRecord
  }
}

/// A share as one user sees it.
public struct VisibleShare: Sendable, Hashable {
  /// The database of the share: the owner's private one.
  public var database: DatabaseID
  /// The zone of the share, with the owner's user record name.
  public var zoneID: ZoneID
  /// The share's record, with the content that the user may see.
  public var share: Record
  /// The name of the root record; nil for the share of a zone.
  public var rootRecordName: String?
  /// The root record, if the request asked for it.
  public var rootRecord: Record?
  /// The owner of the share.
  public var owner: UserIdentity
  /// The user as a participant. A user who has not joined a public share has not accepted.
  public var participant: ShareParticipant

  /// Creates a share as a user sees it.
  public init(
    database: DatabaseID, zoneID: ZoneID, share: Record, rootRecordName: String?,
    rootRecord: Record?, owner: UserIdentity, participant: ShareParticipant
  ) {
    self.database = database
    self.zoneID = zoneID
    self.share = share
    self.rootRecordName = rootRecordName
    self.rootRecord = rootRecord
    self.owner = owner
    self.participant = participant
  }
}
