import CloudKitModel

/// The shares of all users, for administrators.
///
/// The changes have the same effects as a save or a deletion of the share by its owner: the share gets
/// a new change tag, and change feeds have the change. The owner is the user who made them.
public protocol ShareAdministration: Sendable {
  /// Returns a page of the shares after `last`, in the order of ``ShareSummary/Place``.
  ///
  /// - Parameter limit: the most shares in the page. The work grows with this number, and not with
  ///   the number of records that the shares cover.
  func shares(
    _ filter: ShareFilter, after last: ShareSummary.Place?, limit: Int
  ) async throws -> ShareList

  /// Returns a share with its participants; nil if there is no such share.
  ///
  /// - Parameters:
  ///   - shareID: the ID of the share's record.
  ///   - database: the owner's private database.
  func share(_ shareID: RecordID, in database: DatabaseID) async throws -> AdministeredShare?

  /// Counts the shares and their participants in all databases, for metrics.
  ///
  /// - Complexity: O(*n*) in the number of shares and participants.
  func counts() async throws -> ShareCounts

  /// Returns the users who see a record of a private database; nil if there is no such record.
  func readers(of recordID: RecordID, in database: DatabaseID) async throws -> RecordReaders?

  /// Removes a participant from a share.
  ///
  /// - Parameter participantID: the identifier of the participant in the share.
  /// - Throws: ``ItemFailure/Code/notFound`` if there is no such share or participant;
  ///   ``ItemFailure/Code/invalid`` for the owner, and for an invited participant of a public share.
  func removeParticipant(
    _ participantID: String, from shareID: RecordID, in database: DatabaseID, timestamp: Timestamp
  ) async throws

  /// Ends a share. Its participants are removed, its records stay with the owner.
  ///
  /// - Throws: ``ItemFailure/Code/notFound`` if there is no such share.
  func endShare(_ shareID: RecordID, in database: DatabaseID, timestamp: Timestamp) async throws

  /// Replaces the link of a share. The old link is unknown from then on. The new one stays with the
  /// root record or zone, also when sharing ends and begins again. Participants stay.
  ///
  /// - Throws: ``ItemFailure/Code/notFound`` if there is no such share.
  func renewLink(of shareID: RecordID, in database: DatabaseID, timestamp: Timestamp) async throws
}

/// The shares that a list has.
public struct ShareFilter: Sendable, Hashable {
  /// The container and the environment of the shares.
  public var place: ContainerPlace
  /// The owner's private database; nil for the shares of all owners.
  public var database: DatabaseID?
  /// The user record name of a participant who takes part in the shares, or is invited by the record
  /// name; nil for shares of all participants.
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
  /// The place to pass to the next call; nil at the end. The value can be set although ``found`` has
  /// fewer shares than the limit, because a call examines at most ``budget`` shares.
  public var next: ShareSummary.Place?

  /// Creates a page, by default the last one.
  package init(found: [ShareSummary], next: ShareSummary.Place? = nil) {
    self.found = found
    self.next = next
  }
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

  /// Creates a list element.
  package init(
    place: Place, owner: String, shareID: RecordID, rootRecordName: String?,
    publicPermission: SharePermission, invited: Int, accepted: Int
  ) {
    self.place = place
    self.owner = owner
    self.shareID = shareID
    self.rootRecordName = rootRecordName
    self.publicPermission = publicPermission
    self.invited = invited
    self.accepted = accepted
  }
}

/// A share with its participants and the number of its records, for administrators.
public struct AdministeredShare: Sendable, Hashable {
  /// The most records that are counted.
  public static let countLimit = 10_000

  /// The share as it is in lists.
  public var summary: ShareSummary
  /// The share's record, with the content that its owner sees.
  public var record: Record
  /// The number of records that the share covers, at most ``countLimit``. Records of shares do not
  /// count.
  public var coveredRecords: Int
  /// Whether the share covers more than ``countLimit`` records.
  public var coversMore: Bool

  /// Creates a share.
  package init(summary: ShareSummary, record: Record, coveredRecords: Int, coversMore: Bool) {
    self.summary = summary
    self.record = record
    self.coveredRecords = coveredRecords
    self.coversMore = coversMore
  }
}

/// The users who see a record of a private database.
public struct RecordReaders: Sendable, Hashable {
  /// The user record name of the database's owner.
  public var owner: String
  /// The share that covers the record; nil if the record is not shared. A record is in one share at
  /// most.
  public var share: ShareSummary?
  /// The participants of the share who have accepted, without the owner.
  public var participants: [ShareParticipant]

  /// Creates the readers of a record.
  package init(owner: String, share: ShareSummary?, participants: [ShareParticipant]) {
    self.owner = owner
    self.share = share
    self.participants = participants
  }
}

/// The numbers of shares and participants in a store.
public struct ShareCounts: Sendable, Hashable {
  /// The number of shares.
  public var shares: Int
  /// The number of participants who are invited and have not accepted.
  public var invited: Int
  /// The number of participants who have accepted, without the owners.
  public var accepted: Int

  /// Creates counts.
  package init(shares: Int, invited: Int, accepted: Int) {
    self.shares = shares
    self.invited = invited
    self.accepted = accepted
  }
}
