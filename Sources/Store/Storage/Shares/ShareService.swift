import CloudKitModel
import StoreModel

/// The shares of users, as others find them by their links.
public struct ShareService: Sendable {
  let transactions: Transactions

  /// Returns the address of the database that has the share with this link, which is the private
  /// database of its owner; nil if the link leads to no share.
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
  /// A share is visible to its owner and its participants. It is visible to a user who is invited by
  /// the record name or by an address. A public share is visible to everyone who has its link. To
  /// others a share does not exist.
  ///
  /// - Parameters:
  ///   - user: the user record name of the caller.
  ///   - container: the container of the request. A share of another one does not exist.
  /// - Returns: for each request the share, or the failure ``ItemFailure/Code/notFound`` or
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

/// The search of one user for shares by their links, in one transaction.
struct ShareSearch {
  /// The user record name.
  let user: String
  let container: String
  let environment: ContainerEnvironment
  let transaction: StoreTransaction

  /// A share that a link leads to, before the user's part in it is known.
  struct Found {
    /// The owner's private database.
    var database: DatabaseID
    /// The user record name of the owner.
    var owner: String
    var link: ShareLinkTable.Link
    var share: StoredShare
    /// The record of the share, with the content that its owner sees.
    var record: StoredRecord
    /// The content that the owner sees.
    var content: ShareContent
  }

  /// Returns the share of a link in the container and the environment; nil if there is none.
  func find(_ shortGUID: String) throws -> Found? {
    try transaction.context.tokens.shareLink(named: shortGUID).flatMap { try find($0) }
  }

  /// Returns the share of the link with a number; nil if there is none in the container and the
  /// environment.
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

  /// Returns the share of a link, as the user sees it.
  ///
  /// - Throws: ``ItemFailure/Code/notFound`` or ``ItemFailure/Code/mayNeedVerification``.
  func share(_ request: ShareRequest) throws -> VisibleShare {
    guard let found = try find(request.shortGUID) else { throw Self.unknown }
    return try visible(found, request)
  }

  /// Returns the share of a link; nil if there is none, or if the user may not see it.
  func visible(_ name: TokenCipher.ShareLink) throws -> Found? {
    guard let found = try find(name), try participant(of: found) != nil else { return nil }
    return found
  }

  /// Returns a share that was found, as the user sees it.
  ///
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

  /// Returns the user as a participant of a share; nil if the user may not see the share. A user whom
  /// the share blocks does not, whatever link or invitation the user has.
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

  /// Returns the user's row among the participants; nil if there is none.
  ///
  /// A user may be invited more than once, such as by the record name and by an address. An invitation
  /// as an administrator, which only the owner gives, is preferred to others.
  func stored(of found: Found) throws -> StoredParticipant? {
    let own = try ParticipantTable(transaction: transaction).participants(
      of: found.share.number, in: found.database
    ).filter { try isUser($0, link: found.link) }
    return own.first { $0.joined != nil } ?? own.first { $0.role == .administrator }
      ?? own.first { $0.user == user } ?? own.first
  }

  /// Returns whether the user is a participant, or is invited as one.
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

  /// Checks that the user may take part in one more zone of others.
  ///
  /// - Throws: ``ItemFailure/Code/limitExceeded``.
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

  /// Returns the failure for a link of a share that the user may not see.
  ///
  /// A share with an invited address that no account has may be meant for the user, whose account
  /// lacks the address. A link for a single use is for nobody else.
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

  /// Returns the failure for a user who accepts a share without being invited.
  ///
  /// The link has so many random bits that who has it knows of the share. A link for a single use is
  /// unknown to others than its user. A user whom the share blocks gets the same failure by each link.
  func refusalOfAcceptance(of found: Found) throws -> ItemFailure {
    let refusal = try refusal(of: found)
    let isOfShare = found.link.participant == nil && refusal.code == .notFound
    guard isOfShare || found.share.blocked.contains(user) else { return refusal }
    return ItemFailure(.accessDenied, "the user is not invited to the share with this link")
  }

  /// The failure for a link that leads to no share that the user may see.
  static let unknown = ItemFailure(.notFound, "there is no share with this link")
}
