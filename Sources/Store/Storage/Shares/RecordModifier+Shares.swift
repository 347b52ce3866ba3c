import CloudKitModel
import StoreModel

/// Saves and deletions of shares in the owner's private database.
extension RecordModifier {
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
