import CloudKitModel
import StoreModel

/// The shares that a list has.
public struct ShareFilter: Sendable, Hashable {
  /// The container and the environment of the shares.
  public var place: ContainerPlace
  /// The owner's private database; nil for the shares of all owners.
  public var database: DatabaseID?
  /// The user record name of a participant, or of a user invited by the record name; nil for all.
  public var participant: String?

  /// Creates a filter; without an owner and a participant it selects all shares.
  public init(place: ContainerPlace, database: DatabaseID? = nil, participant: String? = nil) {
    self.place = place
    self.database = database
    self.participant = participant
  }
}

/// A page of a list of shares.
public struct ShareList: Sendable, Hashable {
  /// The most shares that one call examines.
  public static let budget = 5_000

  /// The shares, in the order of the databases' and the shares' numbers.
  public var found: [ShareSummary]
  /// The place to pass to the next call; nil at the end. It can be set although ``found`` has
  /// fewer shares than the limit (``budget``).
  public var next: ShareSummary.Place?
}

/// A share in a list for administrators.
public struct ShareSummary: Sendable, Hashable {
  /// The place of a share in the list of all shares.
  public struct Place: Sendable, Hashable {
    /// The owner's private database.
    public var database: DatabaseID
    /// The number of the share's record.
    public var number: Int64

    /// Creates a place, which need not have a share.
    public init(database: DatabaseID, number: Int64) {
      self.database = database
      self.number = number
    }
  }

  /// The place of the share in lists.
  public var place: Place
  /// The user record name of the owner.
  public var owner: String
  /// The ID of the share's record in the owner's private database.
  public var shareID: RecordID
  /// The name of the root record; nil for the share of a zone.
  public var rootRecordName: String?
  /// The permission of everyone who has the share's URL.
  public var publicPermission: SharePermission
  /// The number of participants who are invited and have not accepted.
  public var invited: Int
  /// The number of participants who have accepted, without the owner.
  public var accepted: Int
}

/// A share with its participants and the number of its records, for administrators.
public struct AdministeredShare: Sendable, Hashable {
  /// The most records that are counted.
  public static let countLimit = 10_000

  /// The share as it is in lists.
  public var summary: ShareSummary
  /// The share's record, with the content that its owner sees.
  public var record: Record
  /// The covered records, at most ``countLimit``, without records of shares.
  public var coveredRecords: Int
  /// Whether the share covers more than ``countLimit`` records.
  public var coversMore: Bool
}

/// The users who see a record of a private database.
public struct RecordReaders: Sendable, Hashable {
  /// The user record name of the database's owner.
  public var owner: String
  /// The share that covers the record. A record is in one share at most.
  public var share: ShareSummary?
  /// The participants of the share who have accepted, without the owner.
  public var participants: [ShareParticipant]
}

/// The numbers of shares and participants in a store.
public struct ShareCounts: Sendable, Hashable {
  /// The number of shares.
  public var shares: Int
  /// The number of participants who are invited and have not accepted.
  public var invited: Int
  /// The number of participants who have accepted, without the owners.
  public var accepted: Int
}

/// A request for a share by its link.
public struct ShareRequest: Sendable, Hashable {
  /// The identifier of the share, the last part of its URL.
  public var shortGUID: String
  /// Whether the answer has the root record.
  public var fetchesRootRecord: Bool

  /// The default leaves the root record out.
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
}
