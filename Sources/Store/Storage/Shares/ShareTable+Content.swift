import CloudKitModel
import StoreModel

extension ShareTable {
  /// The content that the owner sees, without the URL, which the server adds; nil if the record is
  /// no share.
  func content(of number: Int64, in database: DatabaseID) throws -> ShareContent? {
    guard let share = try share(number, in: database) else { return nil }
    let owner = try owner(of: share, in: database)
    let links = ShareLinkTable(transaction: transaction)
    let participants = try ParticipantTable(transaction: transaction).participants(
      of: number, in: database)
    var content = ShareContent(
      publicPermission: share.publicPermission, owner: owner, currentParticipant: owner)
    content.participants = try [owner] + participants.map { try model(of: $0, share: share) }
    content.shortGUID = try links.number(
      ofRoot: share.root, inZone: share.zoneNumber, of: database
    ).map { try links.shortGUID(of: $0, in: database) }
    content.deniesAccessRequests = share.settings.deniesAccessRequests
    content.requesters = try share.requesters.map(identity)
    content.blocked = try share.blocked.map(identity)
    // A link that was used is of no use for anybody else.
    let oneTime = try participants.filter { $0.joined == nil }.compactMap { participant in
      try participant.details.link.map { link in
        ShareContent.OneTimeLink(
          participantIDs: [participant.id], url: try links.shortGUID(of: link, in: database))
      }
    }
    if !oneTime.isEmpty { content.oneTimeLinks = oneTime }
    return content
  }

  private func owner(of share: StoredShare, in database: DatabaseID) throws -> ShareParticipant {
    let user = try DatabaseTable(transaction: transaction).address(of: database).owner ?? ""
    return ShareParticipant(
      participantID: share.settings.ownerID, role: .owner, permission: .readWrite,
      acceptance: .accepted, identity: try identity(of: user))
  }

  private func model(
    of participant: StoredParticipant, share: StoredShare
  ) throws -> ShareParticipant {
    var identity = UserIdentity()
    if let user = participant.user { identity = try self.identity(of: user) }
    identity.lookup = participant.details.lookup
    return ShareParticipant(
      participantID: participant.id, role: participant.role,
      permission: participant.role == .publicUser
        ? share.publicPermission : participant.permission,
      acceptance: participant.acceptance, identity: identity,
      isApprovedRequester: participant.details.isApprovedRequester,
      added: participant.details.added)
  }

  private func identity(of user: String) throws -> UserIdentity {
    UserIdentity(
      userRecordName: user,
      nameComponents: try UserTable(transaction: transaction).user(withRecordName: user)?
        .profile.nameComponents)
  }
}
