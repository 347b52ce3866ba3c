import CloudKitModel
import StoreModel

/// Changes of a share by users who accept, leave or request access, by deleted users, and by
/// administrators of the server.
extension RecordWriter {
  // MARK: Acceptance

  /// Makes the writer's user a participant who has accepted, which changes the share's tag.
  ///
  /// - Parameter invited: nil for a user who joins a public share.
  /// - Throws: ``ItemFailure/Code/tooManyParticipants`` if a public share has no place for the
  ///   user.
  mutating func join(_ share: StoredShare, as invited: StoredParticipant?) throws {
    let user = origin.userRecordName
    let participants = ParticipantTable(transaction: transaction)
    var participant: StoredParticipant
    if let invited {
      participant = invited
    } else {
      // The owner counts.
      let limit = ServiceLimits.participantsPerShare
      guard try participants.participants(of: share.number, in: database).count + 1 < limit else {
        throw ItemFailure(
          .tooManyParticipants,
          "the share has \(limit) participants with its owner, which is the limit", limit: limit)
      }
      participant = StoredParticipant(
        id: transaction.context.makeUUID().uuidString, role: .publicUser,
        permission: share.publicPermission, details: ParticipantDetails())
      participant.details.added = timestamp
    }
    participant.user = user
    participant.joined = try drawNumber()
    try participants.save(participant, of: share, in: database)
    var share = share
    if share.requesters.contains(user) {
      share.requesters.removeAll { $0 == user }
      try ShareTable(transaction: transaction).save(share, in: database)
    }
    try touch(share)
  }

  mutating func leave(_ membership: ZoneMembership) throws {
    let participants = ParticipantTable(transaction: transaction)
    guard
      let share = try ShareTable(transaction: transaction).share(membership.share, in: database),
      let participant = try participants.participants(of: share.number, in: database)
        .first(where: { $0.id == membership.participantID })
    else { return }
    if let link = participant.details.link {
      try ShareLinkTable(transaction: transaction).remove(link, of: database)
    }
    try participants.end(
      participant, of: share, at: try drawNumber(), timestamp: timestamp, in: database)
    try touch(share, departed: [participant.joinedUser].compactMap(\.self))
  }

  // MARK: Requests and deleted users

  /// Removes a deleted user from at most `limit` shares, which get new change tags. Returns the
  /// number of changed shares.
  mutating func removeFromShares(_ user: String, limit: Int) throws -> Int {
    let participants = ParticipantTable(transaction: transaction)
    let requests = ShareRequestTable(transaction: transaction)
    let shares = try Set(participants.shares(with: user, in: database, limit: limit))
      .union(requests.shares(with: user, in: database, limit: limit)).sorted()
    for share in shares {
      try participants.remove(user, of: share, in: database)
      try requests.remove(user, of: share, in: database)
      // The share may have ended before.
      guard let stored = try ShareTable(transaction: transaction).share(share, in: database)
      else { continue }
      try touch(stored)
    }
    return shares.count
  }

  /// Changes the share's tag, unless the share ignores the request.
  mutating func addRequester(_ user: String, to share: StoredShare) throws {
    var share = share
    guard !share.settings.deniesAccessRequests, !share.blocked.contains(user),
      !share.requesters.contains(user),
      share.requesters.count < ServiceLimits.requestersPerShare
    else { return }
    share.requesters = (share.requesters + [user]).sorted()
    try ShareTable(transaction: transaction).save(share, in: database)
    try touch(share)
  }

  // MARK: Links

  /// Changes the share's tag. The old link is unknown then.
  mutating func renewLink(of share: StoredShare) throws {
    let links = ShareLinkTable(transaction: transaction)
    if let old = try links.number(ofRoot: share.root, inZone: share.zoneNumber, of: database) {
      try links.remove(old, of: database)
    }
    try links.add(
      try drawNumber(), ofRoot: share.root, inZone: share.zoneNumber,
      of: database)
    try touch(share)
  }
}
