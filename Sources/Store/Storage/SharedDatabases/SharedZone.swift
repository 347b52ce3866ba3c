import CloudKitModel
import StoreModel

/// A zone of another user, as a participant of its shares sees it in one transaction.
///
/// The rows are in the owner's private database. The participant sees the records of accepted
/// shares, and nothing else.
struct SharedZone {
  let database: DatabaseID
  let number: Int64
  let zoneName: String
  let naming: ZoneNaming
  /// One share of the zone, or shares of hierarchies; at least one.
  let memberships: [ZoneMembership]
  let transaction: StoreTransaction

  /// Returns nil if the user has no part: the zone does not exist for the user then.
  init?(
    number: Int64, named zoneName: String, in database: DatabaseID, ownedBy owner: String,
    for user: String, transaction: StoreTransaction
  ) throws {
    memberships = try ParticipantTable(transaction: transaction).memberships(
      of: user, inZone: number, of: database)
    guard !memberships.isEmpty else { return nil }
    self.number = number
    self.zoneName = zoneName
    self.database = database
    self.transaction = transaction
    naming = ZoneNaming(owner: owner, participant: user)
  }

  var zoneID: ZoneID { ZoneID(zoneName: zoneName, ownerName: naming.owner) }

  func zone() throws -> Zone {
    let version =
      try ZoneTable(transaction: transaction).state(
        of: ZoneID(zoneName: zoneName), in: database)?.version ?? 0
    var token = ChangeToken(beginningOf: .zone(number), in: database, at: version)
    var reader = reader(at: version)
    if wholeZone == nil {
      for index in reader.parts.indices {
        reader.parts[index].position = ChangeToken.Place(version: version, number: .max)
      }
    } else {
      token.position = version
    }
    token.reader = reader
    return Zone(
      zoneID: zoneID, version: version,
      changeToken: try token.text(
        sealedBy: transaction.context.tokens, isRepeatable: wholeZone != nil),
      isShared: wholeZone != nil)
  }

  func reader(at version: Int64) -> ChangeToken.Reader {
    ChangeToken.Reader(
      user: naming.participant,
      parts: memberships.map { ChangeToken.Part(beginningOf: $0, at: version) })
  }

  /// The part in the whole zone; nil if records of it are shared.
  var wholeZone: ZoneMembership? { memberships.first { $0.root == nil } }

  /// nil if the participant may not see the record.
  ///
  /// - Complexity: at most one statement.
  func membership(ofRecord number: Int64) throws -> ZoneMembership? {
    if let wholeZone { return wholeZone }
    guard
      let top = try HierarchyTable(transaction: transaction).place(of: number, in: database)?.top
    else { return nil }
    return memberships.first { $0.root == top }
  }

  /// Removes the parent of a shared root, the devices of other users, and the other participants
  /// of a share (`ShareContent.seen(by:)`). Names stay those of the owner's rows.
  func veiled(_ record: Record, number: Int64?, in membership: ZoneMembership) -> Record {
    var record = record
    if number != nil, number == membership.root { record.parent = nil }
    record.hideDevices(ofOthersThan: naming.participant)
    if let content = record.shareContent {
      let participant =
        content.participants?.first { $0.participantID == membership.participantID }
        ?? ShareParticipant(
          participantID: membership.participantID, role: membership.role,
          permission: membership.permission, acceptance: .removed,
          identity: UserIdentity(userRecordName: naming.participant))
      record.shareContent = content.seen(by: participant)
    }
    return record
  }

  /// Returns nil if the participant may not see the record.
  func seen(_ stored: StoredRecord) throws -> Record? {
    guard let membership = try membership(ofRecord: stored.number) else { return nil }
    return naming.outward(veiled(stored.record, number: stored.number, in: membership))
  }

  func record(named recordName: String) throws -> Record? {
    try RecordTable(transaction: transaction).record(
      named: recordName, inZone: number, of: database
    ).flatMap(seen)
  }
}

extension Record {
  mutating func hideDevices(ofOthersThan user: String) {
    if created?.userRecordName != user { created?.deviceID = nil }
    if modified?.userRecordName != user { modified?.deviceID = nil }
  }
}

/// A user's part in one share, from the acceptance to the removal.
struct ZoneMembership: Equatable {
  var share: Int64
  var root: Int64?
  var participantID: String
  var role: ShareRole
  /// A user who joined by a public share has its permission.
  var permission: SharePermission
  var joined: Int64

  var mayRead: Bool { AccessPolicy.refusal(of: .read, as: role, with: permission) == nil }

  var mayWrite: Bool { AccessPolicy.refusal(of: .write, as: role, with: permission) == nil }

  func kind(ofRecord number: Int64) -> SharedRecordKind {
    if number == share { return .share }
    return number == root ? .root : .member
  }

  /// Whether the user may delete a record that the share covers, directly or by a `deleteSelf`
  /// reference.
  func mayDelete(_ number: Int64) -> Bool {
    AccessPolicy.refusal(of: kind(ofRecord: number).deletion, as: role, with: permission) == nil
  }

  /// - Throws: ``ItemFailure/Code/accessDenied``, with the record in its text.
  func check(_ action: ParticipantAction, on record: RecordID) throws(ItemFailure) {
    guard let reason = AccessPolicy.refusal(of: action, as: role, with: permission) else { return }
    throw ItemFailure(
      .accessDenied, "record '\(record)' cannot be saved or deleted: \(reason)")
  }
}
