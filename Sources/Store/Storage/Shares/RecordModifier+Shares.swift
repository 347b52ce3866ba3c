import CloudKitModel
import Foundation
import StoreModel

/// Saves and deletions of shares in the owner's private database.
extension RecordModifier {
  /// A save of a share, checked but not written yet.
  struct ShareChange {
    /// The share after the save. Its number is 0 before the first save.
    fileprivate var share: StoredShare
    fileprivate var participants: ParticipantChanges
    /// The place of the root record before the share; nil for a root without a parent.
    fileprivate var rootPlace: HierarchyTable.Place?
    /// The descendants of the root that are in a larger hierarchy before the share.
    fileprivate var moving: [Int64] = []
    fileprivate var isNew = false

    /// The users whose part ends with the save.
    var departed: [String] {
      (participants.ended.filter(\.mayRead) + participants.hidden).compactMap(\.joinedUser)
    }
  }

  // MARK: Checks

  /// Checks the save of a share, and returns what it changes.
  ///
  /// - Parameters:
  ///   - record: the record to save. Its content is what the request asks for.
  ///   - current: the stored record, with its content; nil for a new share.
  /// - Returns: nil if the record is no share.
  /// - Throws: ``ItemFailure``.
  func shareChange(
    of record: Record, over current: StoredRecord?, in zone: ZoneModification
  ) throws -> ShareChange? {
    guard record.recordType == ShareContent.recordType else { return nil }
    guard address.scope == .private else {
      throw ItemFailure(
        .badDatabase, "record '\(record.recordID)' is a share; shares are in private databases only"
      )
    }
    let requested = record.shareContent ?? ShareContent()
    var change: ShareChange
    let before: StoredShare?
    if let current {
      guard
        let share = try ShareTable(transaction: transaction).share(current.number, in: database)
      else {
        throw StoreError(.corrupt, "record '\(record.recordID)' is a share without its row")
      }
      before = share
      change = ShareChange(share: share, participants: try participants(nil, of: share, nil))
    } else {
      before = nil
      change = try newShare(record, requested, in: zone)
    }
    if let permission = requested.publicPermission {
      guard permission != .unknown else {
        throw ItemFailure(
          .invalid, field: "publicPermission",
          "the public permission of share '\(record.recordID)' must be NONE, READ_ONLY or READ_WRITE"
        )
      }
      change.share.publicPermission = permission
    }
    let blocked = try settle(requested, in: &change.share)
    change.participants = try participants(
      requested.participants, of: change.share, before, blocking: blocked)
    // A requester who was added is answered.
    change.share.requesters.removeAll(where: change.participants.added.contains)
    return change
  }

  /// Returns the changes of a share's participants.
  ///
  /// - Parameter before: the share before the save; nil for a new share.
  private func participants(
    _ requested: [ShareParticipant]?, of share: StoredShare, _ before: StoredShare?,
    blocking blocked: Set<String> = []
  ) throws -> ParticipantChanges {
    let present =
      try before.map {
        try ParticipantTable(transaction: transaction).participants(of: $0.number, in: database)
      } ?? []
    let owner = address.owner ?? ""
    return try ParticipantChanges(
      to: requested, blocking: blocked,
      in: .init(
        present: present, owner: (owner, share.settings.ownerID),
        permission: (before?.publicPermission ?? .none, share.publicPermission),
        isOwners: modification.isByAdministrator || modification.origin.userRecordName == owner,
        timestamp: modification.timestamp,
        requesters: Set(before?.requesters ?? [])))
  }

  /// Applies the requested answers to requests for access.
  ///
  /// - Returns: the users that are blocked by the save.
  private func settle(
    _ requested: ShareContent, in share: inout StoredShare
  ) throws -> Set<String> {
    if let denies = requested.deniesAccessRequests {
      share.settings.deniesAccessRequests = denies
    }
    let requestersBefore = Set(share.requesters)
    if let requesters = requested.requesters {
      let named = Set(requesters.compactMap(\.userRecordName))
      share.requesters.removeAll { !named.contains($0) }
    }
    guard let blocked = requested.blocked else { return [] }
    let named = blocked.compactMap(\.userRecordName)
    let known = try Set(
      share.number == 0
        ? []
        : ParticipantTable(transaction: transaction).participants(of: share.number, in: database)
          .compactMap(\.user))
    let new = Set(named).subtracting(share.blocked)
      .intersection(known.union(requestersBefore))
    share.blocked.removeAll { !named.contains($0) }
    share.blocked = (share.blocked + new).sorted()
    share.requesters.removeAll(where: new.contains)
    let limit = ServiceLimits.blockedPerShare
    guard share.blocked.count <= limit else {
      throw ItemFailure(
        .limitExceeded, field: "blocked",
        "the share would block \(share.blocked.count) users; the limit is \(limit)",
        limit: limit)
    }
    return new
  }

  /// Checks a share that does not exist yet.
  private func newShare(
    _ record: Record, _ requested: ShareContent, in zone: ZoneModification
  ) throws -> ShareChange {
    guard !zone.zoneID.isDefaultZone else {
      throw ItemFailure(
        .invalid, field: "zoneID",
        "share '\(record.recordID)' is in the default zone; only records in custom zones can be "
          + "shared")
    }
    var settings = ShareSettings()
    let owner = requested.participants?.first { $0.role == .owner }
    settings.ownerID = owner?.participantID ?? transaction.context.makeUUID().uuidString
    let share = StoredShare(
      number: 0, zoneNumber: zone.zoneNumber, publicPermission: .none, settings: settings)
    var change = ShareChange(share: share, participants: try participants(nil, of: share, nil))
    change.isNew = true
    guard let root = requested.root else {
      guard record.recordID.recordName == ShareContent.zoneShareName else {
        throw ItemFailure(
          .invalid, field: "forRecord",
          "share '\(record.recordID)' names no root record; name it in forRecord, or give the share "
            + "of a whole zone the name '\(ShareContent.zoneShareName)'")
      }
      let roots = try ShareTable(transaction: transaction).roots(
        inZone: zone.zoneNumber, of: database)
      guard roots.isEmpty else { throw alreadyShared(record, "records of the zone are shared") }
      return change
    }
    try check(root: root, of: record, change: &change, in: zone)
    return change
  }

  /// Checks the root of a new share, and finds the records that it shares.
  private func check(
    root: ShareContent.Root, of record: Record, change: inout ShareChange, in zone: ZoneModification
  ) throws {
    guard record.recordID.recordName != ShareContent.zoneShareName else {
      throw ItemFailure(
        .invalid, field: "forRecord",
        "'\(ShareContent.zoneShareName)' is the share of a whole zone and has no root record")
    }
    let records = RecordTable(transaction: transaction)
    guard
      let stored = try records.record(
        named: root.recordName, inZone: zone.zoneNumber, of: database)
    else {
      throw BlockedOperation(
        recordNames: [root.recordName],
        failure: ItemFailure(
          .referenceMissing, field: "forRecord",
          "share '\(record.recordID)' has the root record '\(root.recordName)', which does not "
            + "exist; save it in the same request"))
    }
    guard zone.sharedRoots[root.recordName] == record.recordID.recordName else {
      throw ItemFailure(
        .invalid, field: "forRecord",
        "share '\(record.recordID)' is saved without its root record '\(root.recordName)'; a new "
          + "share and its root are saved in one request")
    }
    guard stored.record.recordType != ShareContent.recordType else {
      throw ItemFailure(
        .invalid, field: "forRecord", "record '\(root.recordName)' is a share; it cannot be shared")
    }
    change.share.root = stored.number
    let table = HierarchyTable(transaction: transaction)
    change.rootPlace = try table.place(of: stored.number, in: database)
    for other in try ShareTable(transaction: transaction).roots(
      inZone: zone.zoneNumber, of: database)
    {
      guard let other else { throw alreadyShared(record, "the zone is shared") }
      if try isAncestor(other, orSelfOf: stored.number) {
        throw alreadyShared(record, "the root record or an ancestor of it is shared")
      }
      if try isAncestor(stored.number, orSelfOf: other) {
        throw alreadyShared(record, "a descendant of the root record is shared")
      }
    }
    let top = change.rootPlace?.top ?? stored.number
    if top != stored.number {
      change.moving = try descendants(of: stored, below: 0, withTop: top)
    }
  }

  /// Returns the failure of a share in the hierarchy of another one.
  private func alreadyShared(_ record: Record, _ reason: String) -> ItemFailure {
    ItemFailure(
      .alreadyShared, field: "forRecord", "share '\(record.recordID)' cannot be saved: \(reason)")
  }

  // MARK: Writing

  /// Writes a checked share, and returns its content.
  ///
  /// - Parameters:
  ///   - stored: the record of the share as it was saved.
  ///   - version: the number of the save.
  mutating func write(
    _ change: ShareChange, of stored: StoredRecord, at version: Int64
  ) throws -> ShareContent? {
    let shares = ShareTable(transaction: transaction)
    let participants = ParticipantTable(transaction: transaction)
    let links = ShareLinkTable(transaction: transaction)
    var share = change.share
    if change.isNew {
      share.number = stored.number
      try shares.save(share, in: database)
      // Later changes of the database may have participants as listeners.
      _ = try DatabaseTable(transaction: transaction).raiseSubscriptionVersion(of: database)
      transaction.catalog.listeners[database] = nil
      _ = try link(ofRoot: share.root, inZone: share.zoneNumber)
      try place(share, change, at: version)
    } else {
      try shares.save(share, in: database)
    }
    for participant in change.participants.ended {
      if let link = participant.details.link { try links.remove(link, of: database) }
      try participants.end(
        participant, of: share, at: version, timestamp: modification.timestamp, in: database)
    }
    for var participant in change.participants.saved {
      if participant.isAnonymous, participant.details.link == nil {
        let link = try numbers.take(from: transaction)
        try links.add(
          link, ofRoot: share.root, participant: participant.id, inZone: share.zoneNumber,
          of: database)
        participant.details.link = link
      }
      try participants.save(participant, of: share, in: database)
    }
    return try shares.content(of: share.number, in: database)
  }

  /// Returns the number of the link of a root or a zone. The first call adds the link.
  private mutating func link(ofRoot root: Int64?, inZone zone: Int64) throws -> Int64 {
    let links = ShareLinkTable(transaction: transaction)
    if let known = try links.number(ofRoot: root, inZone: zone, of: database) { return known }
    let link = try numbers.take(from: transaction)
    try links.add(link, ofRoot: root, inZone: zone, of: database)
    return link
  }

  /// Returns the short GUID of a saved record, which a share of it has now or later. The result is nil
  /// for a record that cannot be shared: a share, and a record in the default zone or in a public
  /// database.
  mutating func shortGUID(of record: Record, in zone: ZoneModification) throws -> String? {
    guard address.scope == .private, !zone.zoneID.isDefaultZone,
      record.recordType != ShareContent.recordType,
      let number = try RecordTable(transaction: transaction).number(
        of: record.recordID.recordName, inZone: zone.zoneNumber, of: database)
    else { return nil }
    let link = try link(ofRoot: number, inZone: zone.zoneNumber)
    return try ShareLinkTable(transaction: transaction).shortGUID(of: link, in: database)
  }

  /// Gives the root and its descendants their place in the shared hierarchy, and the share its place
  /// beside them.
  private func place(_ share: StoredShare, _ change: ShareChange, at version: Int64) throws {
    guard let root = share.root else { return }
    let table = HierarchyTable(transaction: transaction)
    try table.set(
      HierarchyTable.Place(parent: change.rootPlace?.parent, top: root), of: root, at: version,
      inZone: share.zoneNumber, of: database)
    try table.set(
      HierarchyTable.Place(parent: nil, top: root), of: share.number, at: version,
      inZone: share.zoneNumber, of: database)
    for descendant in change.moving {
      try table.set(top: root, of: descendant, at: version, in: database)
    }
  }
}

// MARK: - The end of a share

extension RecordModifier {
  /// Returns the record of the share of a deleted root; nil if the record was no root.
  func shareRecord(ofRoot stored: StoredRecord) throws -> StoredRecord? {
    guard address.scope == .private, stored.record.share != nil,
      let share = try ShareTable(transaction: transaction).share(
        ofRoot: stored.number, inZone: stored.zoneNumber, of: database)
    else { return nil }
    return try RecordTable(transaction: transaction).existingRecord(
      numbered: share.number, in: database)
  }

  /// Ends a share whose record is deleted. Its participants are removed, and its root, if it stays,
  /// gets a new change tag.
  ///
  /// - Parameter version: the number of the deletion.
  mutating func endShare(_ number: Int64, at version: Int64) throws {
    let shares = ShareTable(transaction: transaction)
    guard let share = try shares.share(number, in: database) else { return }
    let participants = ParticipantTable(transaction: transaction)
    let links = ShareLinkTable(transaction: transaction)
    if let root = share.root, try participants.hasReadersOfOthers(number, in: database) {
      try DepartureTable(transaction: transaction).addAll(
        below: root, inZone: share.zoneNumber, at: version, timestamp: modification.timestamp,
        of: database)
    }
    for participant in try participants.participants(of: number, in: database) {
      if let link = participant.details.link { try links.remove(link, of: database) }
      try participants.end(
        participant, of: share, at: version, timestamp: modification.timestamp, in: database)
    }
    try shares.remove(number, of: database)
    guard let root = share.root else { return }
    let hierarchy = HierarchyTable(transaction: transaction)
    if let parent = try hierarchy.place(of: root, in: database)?.parent {
      let top = try hierarchy.place(of: parent, in: database)?.top ?? parent
      try hierarchy.replace(
        top: root, with: top, at: version, inZone: share.zoneNumber, of: database)
    } else {
      try hierarchy.remove(root, of: database)
    }
    let unshared = try touch(root) { $0.share = nil }
    if let unshared { noteChange(of: unshared) }
  }

  /// Gives a stored record a new version, without an operation on it. Its dates stay the same.
  ///
  /// - Parameters:
  ///   - departed: the users whose part in a share ends with the change.
  ///   - change: changes the record.
  /// - Returns: the record with its new change tag; nil if it does not exist.
  private mutating func touch(
    _ number: Int64, departed: [String] = [], _ change: (inout Record) -> Void = { _ in }
  ) throws -> Record? {
    guard
      let current = try RecordTable(transaction: transaction).existingRecord(
        numbered: number, in: database),
      let type = try RecordTypeTable(transaction: transaction).type(
        named: current.record.recordType, at: address)
    else { return nil }
    var stored = current
    change(&stored.record)
    let version = try numbers.take(from: transaction)
    latest = version
    stored.record.recordChangeTag = transaction.context.changeTags.tag(
      ofVersion: version, in: database)
    try write(stored, type: type, version: version, over: current)
    try HierarchyTable(transaction: transaction).raise(version, of: number, in: database)
    try RecordIndexes(transaction: transaction).update(
      from: current, to: stored, type: type, in: database)
    try post(
      .recordUpdated, record: stored.record, sequence: version,
      audience: try audience(ofRecord: number, inZone: stored.zoneNumber, departed: departed))
    return stored.record
  }
}

// MARK: - Changes without a save

extension RecordModifier {
  /// Gives the record of a share a new change tag, and its zone a new version, because its
  /// participants or requesters changed.
  ///
  /// - Parameter departed: the users whose part in the share ends with the change.
  mutating func touch(_ share: StoredShare, departed: [String] = []) throws {
    _ = try touch(share.number, departed: departed)
    transaction.gathered.zoneVersions[
      Catalog.ZoneKey(database: database, number: share.zoneNumber)] = latest
    transaction.gathered.numbers[database] = numbers
  }
}

extension StoredParticipant {
  /// Whether the participant is invited by a link for a single use, and nobody has used it.
  fileprivate var isAnonymous: Bool { user == nil && details.lookup == nil }
}
