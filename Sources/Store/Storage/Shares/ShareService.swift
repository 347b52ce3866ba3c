import CloudKitModel
import StoreModel

/// The service for shares as others find them by their links.
struct ShareService: ShareStore {
  let transactions: Transactions

  func shares(
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
}

/// The search of one user for shares by their links, in one transaction.
struct ShareSearch {
  /// The user record name.
  let user: String
  let container: String
  let environment: ContainerEnvironment
  let transaction: StoreTransaction

  /// Returns the share of a link, as the user sees it.
  ///
  /// - Throws: ``ItemFailure/Code/notFound`` or ``ItemFailure/Code/mayNeedVerification``.
  func share(_ request: ShareRequest) throws -> VisibleShare {
    let shares = ShareTable(transaction: transaction)
    guard let name = transaction.context.tokens.shareLink(named: request.shortGUID),
      let link = try ShareLinkTable(transaction: transaction).link(name.link, in: name.database)
    else { throw unknown(request) }
    let address = try DatabaseTable(transaction: transaction).address(of: name.database)
    guard address.container == container, address.environment == environment,
      let owner = address.owner,
      let share = try shares.share(
        ofRoot: link.root, inZone: link.zone, of: name.database)
    else { throw unknown(request) }
    let records = RecordTable(transaction: transaction)
    guard
      let stored = try records.existingRecord(numbered: share.number, in: name.database),
      let content = stored.record.shareContent
    else { throw unknown(request) }
    guard
      let participant = try participant(
        of: share, content: content, owner: owner, link: link, in: name.database)
    else { throw try refusal(of: request, to: share, in: name.database) }
    var record = stored.record
    record.shareContent = content.seen(by: participant)
    record.recordID.zoneID.ownerName = owner
    let root = try share.root.flatMap {
      try records.existingRecord(numbered: $0, in: name.database)?.record
    }
    var rootRecord = request.fetchesRootRecord ? root : nil
    rootRecord?.recordID.zoneID.ownerName = owner
    return VisibleShare(
      database: name.database, zoneID: record.recordID.zoneID, share: record,
      rootRecordName: root?.recordID.recordName, rootRecord: rootRecord,
      owner: content.owner?.identity ?? UserIdentity(userRecordName: owner),
      participant: participant)
  }

  /// Returns the user as a participant of a share; nil if the user may not see the share.
  private func participant(
    of share: StoredShare, content: ShareContent, owner: String, link: ShareLinkTable.Link,
    in database: DatabaseID
  ) throws -> ShareParticipant? {
    if user == owner { return content.owner }
    let stored = try ParticipantTable(transaction: transaction).participants(
      of: share.number, in: database)
    if let known = try stored.first(where: { try isUser($0, link: link) }) {
      return content.participants?.first { $0.participantID == known.id }
    }
    // The link of a participant is of no use for others.
    guard share.publicPermission != .none, link.participant == nil else { return nil }
    return ShareParticipant(
      role: .publicUser, permission: share.publicPermission, acceptance: .pending,
      identity: UserIdentity(userRecordName: user))
  }

  /// Whether the user is a participant, or is invited as one.
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

  /// Returns the failure for a link of a share that the user may not see.
  ///
  /// A share with an invited address that no account has may be meant for the user, whose account
  /// lacks the address.
  private func refusal(
    of request: ShareRequest, to share: StoredShare, in database: DatabaseID
  ) throws -> ItemFailure {
    let users = UserTable(transaction: transaction)
    let waits = try ParticipantTable(transaction: transaction).participants(
      of: share.number, in: database
    ).contains { participant in
      guard participant.user == nil, let lookup = participant.details.lookup else { return false }
      return try !users.contains(lookup)
    }
    guard waits else { return unknown(request) }
    return ItemFailure(
      .mayNeedVerification,
      "the share with this link is for a user with another address; add the address to the account")
  }

  /// Returns the failure for a link that leads to no share that the user may see.
  private func unknown(_ request: ShareRequest) -> ItemFailure {
    ItemFailure(.notFound, "there is no share with this link")
  }
}
