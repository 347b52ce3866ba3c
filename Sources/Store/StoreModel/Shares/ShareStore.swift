import CloudKitModel

/// The shares of users, as others find them by their links.
public protocol ShareStore: Sendable {
  /// Returns the address of the database that has the share with this link, which is the private
  /// database of its owner; nil if the link leads to no share.
  func address(ofShare shortGUID: String) async throws -> DatabaseAddress?
  /// Returns what a user sees of shares, in the order of the requests.
  ///
  /// A share is visible to its owner and its participants. It is visible to a user who is invited by
  /// the record name or by an address. A public share is visible to everyone who has its link. To
  /// others a share does not exist.
  ///
  /// - Parameters:
  ///   - user: the user record name of the caller.
  ///   - container: the container of the request. A share of another one does not exist.
  /// - Returns: for each request the share, or the failure ``ItemFailure/Code/notFound`` or
  ///   ``ItemFailure/Code/mayNeedVerification``.
  func shares(
    _ requests: [ShareRequest], for user: String, of container: String,
    in environment: ContainerEnvironment
  ) async throws -> [Result<VisibleShare, ItemFailure>]

  /// Records that a user asks for access to a share. The owner finds the user among the requesters
  /// of the share.
  ///
  /// A request is recorded once. It has no effect if the share does not exist, ignores requests,
  /// blocks the user or is public. It has no effect either if the share has
  /// `ServiceLimits.requestersPerShare` requesters.
  ///
  /// - Parameter shortGUID: the identifier of the share, the last part of its URL.
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/alreadyInvited`` if the user is invited or
  ///   takes part; ``StoreError/Code/userDeleted`` if the user is being deleted.
  func requestAccess(
    to shortGUID: String, for user: String, of container: String,
    in environment: ContainerEnvironment, timestamp: Timestamp
  ) async throws

  /// Makes a user a participant of a share who has accepted.
  ///
  /// A user who is invited accepts the invitation. Every other user joins a public share, with its
  /// present public permission. The first user who accepts a link for a single use becomes the
  /// participant whom the link is for. A second acceptance changes nothing, and neither does that of
  /// the owner.
  ///
  /// - Parameters:
  ///   - origin: the user, and the device that gets no push for the change of the share.
  ///   - container: the container of the request. A share of another one does not exist.
  /// - Returns: the share as the user sees it after the acceptance.
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/notFound`` or
  ///   ``ItemFailure/Code/mayNeedVerification`` if the user may not see the share;
  ///   ``ItemFailure/Code/tooManyParticipants`` if a public share has
  ///   `ServiceLimits.participantsPerShare`; ``ItemFailure/Code/limitExceeded`` if the user takes
  ///   part in `ServiceLimits.sharedZonesPerUser` zones. ``StoreError/Code/userDeleted`` if the user
  ///   is being deleted.
  func accept(
    _ request: ShareRequest, by origin: ChangeOrigin, of container: String,
    in environment: ContainerEnvironment, timestamp: Timestamp
  ) async throws -> VisibleShare
}

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
  /// The record of the share. Its content has what the user may see of it.
  public var share: Record
  /// The name of the root record; nil for the share of a zone.
  public var rootRecordName: String?
  /// The root record, if the request asked for it.
  public var rootRecord: Record?
  /// The owner of the share.
  public var owner: UserIdentity
  /// The user as a participant. Who has not joined a public share is one who has not accepted.
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
