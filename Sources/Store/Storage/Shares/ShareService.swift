import CloudKitModel
import StoreModel

/// The shares of users, as others find them by their links.
public struct ShareService: Sendable {
  let transactions: Transactions

  /// The address of the owner's private database, by a share's link; nil if the link leads to no
  /// share.
  public func address(ofShare shortGUID: String) async throws -> DatabaseAddress? {
    guard let name = transactions.context.tokens.shareLink(named: shortGUID) else { return nil }
    return try await transactions.read { transaction in
      guard
        let link = try ShareLinkTable(transaction: transaction).link(name.link, in: name.database),
        try ShareTable(transaction: transaction).share(
          ofRoot: link.root, inZone: link.zone, of: name.database) != nil
      else { return nil }
      return try DatabaseTable(transaction: transaction).address(of: name.database)
    }
  }

  /// Returns what a user sees of shares, in the order of the requests.
  ///
  /// A share exists for its owner, its participants, and users who are invited by the record name
  /// or by an address. A public share exists for everyone who has its link.
  ///
  /// - Parameters:
  ///   - user: the user record name of the caller.
  ///   - container: the container of the request. A share of another one does not exist.
  /// - Returns: the share of each request, or the failure ``ItemFailure/Code/notFound`` or
  ///   ``ItemFailure/Code/mayNeedVerification``.
  public func shares(
    _ requests: [ShareRequest], for user: String, of container: String,
    in environment: ContainerEnvironment
  ) async throws -> [Result<VisibleShare, ItemFailure>] {
    try await transactions.read { transaction in
      let search = ShareSearch(
        user: user, container: container, environment: environment, transaction: transaction)
      return try requests.map { request in
        do {
          return .success(try search.share(request))
        } catch let failure as ItemFailure {
          return .failure(failure)
        }
      }
    }
  }

  /// Records that a user asks for access to a share, whose owner finds the user among the
  /// requesters.
  ///
  /// A request is recorded once. It has no effect if the share does not exist, ignores requests,
  /// blocks the user, is public, or has `ServiceLimits.requestersPerShare` requesters.
  ///
  /// - Parameter shortGUID: the identifier of the share, the last part of its URL.
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/alreadyInvited`` if the user is invited or
  ///   takes part; ``StoreError/Code/userDeleted`` if the user is being deleted.
  public func requestAccess(
    to shortGUID: String, for user: String, of container: String,
    in environment: ContainerEnvironment, timestamp: Timestamp
  ) async throws {
    guard let name = transactions.context.tokens.shareLink(named: shortGUID) else { return }
    try await transactions.write(locking: .database(name.database)) {
      transaction in
      let search = ShareSearch(
        user: user, container: container, environment: environment, transaction: transaction)
      guard let found = try search.find(shortGUID) else { return }
      if let participant = try search.participant(of: found) {
        guard participant.role == .privateUser || participant.role == .administrator else {
          return
        }
        throw ItemFailure(.alreadyInvited, "the user is invited to this share; accept it")
      }
      var writer = try RecordWriter(
        to: found.database, by: ChangeOrigin(userRecordName: user), at: timestamp,
        transaction: transaction)
      try writer.addRequester(user, to: found.share)
    }
  }

  /// Makes a user a participant of a share who has accepted.
  ///
  /// An invited user accepts the invitation. Every other user joins a public share, with its
  /// present permission. A link for a single use is for the first user who accepts it. A second
  /// acceptance, or that of the owner, changes nothing.
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
  public func accept(
    _ request: ShareRequest, by origin: ChangeOrigin, of container: String,
    in environment: ContainerEnvironment, timestamp: Timestamp
  ) async throws -> VisibleShare {
    guard let name = transactions.context.tokens.shareLink(named: request.shortGUID) else {
      throw ShareSearch.unknown
    }
    return try await transactions.write(locking: .database(name.database)) {
      transaction in
      let search = ShareSearch(
        user: origin.userRecordName, container: container, environment: environment,
        transaction: transaction)
      guard let found = try search.find(request.shortGUID) else { throw ShareSearch.unknown }
      guard let participant = try search.participant(of: found) else {
        throw try search.refusalOfAcceptance(of: found)
      }
      guard participant.acceptance == .pending else {
        // The owner has nothing to accept, and a second acceptance changes nothing.
        return try search.visible(found, request)
      }
      try search.checkLimit(of: found)
      var writer = try RecordWriter(
        to: found.database, by: origin, at: timestamp, transaction: transaction)
      try writer.join(found.share, as: search.stored(of: found))
      guard let joined = try search.find(request.shortGUID) else { throw ShareSearch.unknown }
      return try search.visible(joined, request)
    }
  }
}

/// The shares by links of one user, in one transaction.
struct ShareSearch {
  let user: String
  let container: String
  let environment: ContainerEnvironment
  let transaction: StoreTransaction

  /// A share, before the user's part in it is known.
  struct Found {
    var database: DatabaseID
    var owner: String
    var link: ShareLinkTable.Link
    var share: StoredShare
    var record: StoredRecord
    var content: ShareContent
  }

  /// Returns nil also for another container or environment.
  func find(_ shortGUID: String) throws -> Found? {
    try transaction.context.tokens.shareLink(named: shortGUID).flatMap { try find($0) }
  }

  /// Returns nil also for another container or environment.
  func find(_ name: TokenCipher.ShareLink) throws -> Found? {
    guard
      let link = try ShareLinkTable(transaction: transaction).link(name.link, in: name.database)
    else { return nil }
    let address = try DatabaseTable(transaction: transaction).address(of: name.database)
    guard address.container == container, address.environment == environment,
      let owner = address.owner,
      let share = try ShareTable(transaction: transaction).share(
        ofRoot: link.root, inZone: link.zone, of: name.database),
      let record = try RecordTable(transaction: transaction).existingRecord(
        numbered: share.number, in: name.database), let content = record.record.shareContent
    else { return nil }
    return Found(
      database: name.database, owner: owner, link: link, share: share, record: record,
      content: content)
  }

  /// - Throws: ``ItemFailure/Code/notFound`` or ``ItemFailure/Code/mayNeedVerification``.
  func share(_ request: ShareRequest) throws -> VisibleShare {
    guard let found = try find(request.shortGUID) else { throw Self.unknown }
    return try visible(found, request)
  }

  /// Returns nil also if the user may not see the share.
  func visible(_ name: TokenCipher.ShareLink) throws -> Found? {
    guard let found = try find(name), try participant(of: found) != nil else { return nil }
    return found
  }

  /// - Throws: ``ItemFailure/Code/notFound`` or ``ItemFailure/Code/mayNeedVerification``.
  func visible(_ found: Found, _ request: ShareRequest) throws -> VisibleShare {
    guard let participant = try participant(of: found) else { throw try refusal(of: found) }
    var record = found.record.record
    record.shareContent = found.content.seen(by: participant)
    record.recordID.zoneID.ownerName = found.owner
    record.hideDevices(ofOthersThan: user)
    let root = try found.share.root.flatMap {
      try RecordTable(transaction: transaction).existingRecord(
        numbered: $0, in: found.database)?.record
    }
    var rootRecord = request.fetchesRootRecord ? root : nil
    rootRecord?.recordID.zoneID.ownerName = found.owner
    rootRecord?.hideDevices(ofOthersThan: user)
    // The parent of a root is not shared.
    if user != found.owner { rootRecord?.parent = nil }
    return VisibleShare(
      database: found.database, zoneID: record.recordID.zoneID, share: record,
      rootRecordName: root?.recordID.recordName, rootRecord: rootRecord,
      owner: found.content.owner?.identity ?? UserIdentity(userRecordName: found.owner),
      participant: participant)
  }

  /// A blocked user may not see the share, by whatever link or invitation.
  func participant(of found: Found) throws -> ShareParticipant? {
    if user == found.owner { return found.content.owner }
    guard !found.share.blocked.contains(user) else { return nil }
    if let known = try stored(of: found) {
      guard known.mayRead else { return nil }
      return found.content.participants?.first { $0.participantID == known.id }
    }
    // The link of a participant is of no use for others.
    guard found.share.publicPermission != .none, found.link.participant == nil
    else { return nil }
    return ShareParticipant(
      role: .publicUser, permission: found.share.publicPermission, acceptance: .pending,
      identity: UserIdentity(userRecordName: user))
  }

  /// A user may be invited more than once. An invitation as an administrator, which only the owner
  /// gives, is preferred.
  func stored(of found: Found) throws -> StoredParticipant? {
    let own = try ParticipantTable(transaction: transaction).participants(
      of: found.share.number, in: found.database
    ).filter { try isUser($0, link: found.link) }
    return own.first { $0.joined != nil } ?? own.first { $0.role == .administrator }
      ?? own.first { $0.user == user } ?? own.first
  }

  private func isUser(
    _ participant: StoredParticipant, link: ShareLinkTable.Link
  ) throws -> Bool {
    if let known = participant.user { return known == user }
    guard let lookup = participant.details.lookup else {
      return link.participant == participant.id
    }
    guard
      let profile = try UserTable(transaction: transaction).user(withRecordName: user)?.profile
    else { return false }
    return lookup.emailAddress.map { $0 == profile.emailAddress } == true
      || lookup.phoneNumber.map { $0 == profile.phoneNumber } == true
  }

  /// - Throws: ``ItemFailure/Code/limitExceeded`` if the user takes part in too many zones of
  ///   others.
  func checkLimit(of found: Found) throws {
    let limit = ServiceLimits.sharedZonesPerUser
    let zones = try ParticipantTable(transaction: transaction).zones(with: user)
    guard zones.count >= limit,
      !zones.contains(where: { $0 == (found.database, found.share.zoneNumber) })
    else { return }
    throw ItemFailure(
      .limitExceeded,
      "the user takes part in \(zones.count) zones of others; the limit is \(limit)", limit: limit)
  }

  /// An invited address that no account has may be the user's, whose account lacks it. A link for
  /// a single use is for nobody else.
  private func refusal(of found: Found) throws -> ItemFailure {
    guard found.link.participant == nil else { return Self.unknown }
    let users = UserTable(transaction: transaction)
    let waits = try ParticipantTable(transaction: transaction).participants(
      of: found.share.number, in: found.database
    ).contains { participant in
      guard participant.user == nil, let lookup = participant.details.lookup else { return false }
      return try !users.contains(lookup)
    }
    guard waits else { return Self.unknown }
    return ItemFailure(
      .mayNeedVerification,
      "the share with this link is for a user with another address; add the address to the account")
  }

  /// For a user who is not invited. The link has so many random bits that its holder knows of the
  /// share. A link for a single use is unknown to others than its user. A blocked user gets the
  /// same failure by each link.
  func refusalOfAcceptance(of found: Found) throws -> ItemFailure {
    let refusal = try refusal(of: found)
    let isOfShare = found.link.participant == nil && refusal.code == .notFound
    guard isOfShare || found.share.blocked.contains(user) else { return refusal }
    return ItemFailure(.accessDenied, "the user is not invited to the share with this link")
  }

  static let unknown = ItemFailure(.notFound, "there is no share with this link")
}
