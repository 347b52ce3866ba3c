import CloudKitModel
import StoreModel

/// The writes of a save or a deletion of a share.
extension RecordWriter {
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
      _ = try link(ofRoot: share.root, inZone: share.zoneNumber)
      try place(share, change, at: version)
    } else {
      try shares.save(share, in: database)
    }
    for participant in change.participants.ended {
      if let link = participant.details.link { try links.remove(link, of: database) }
      try participants.end(
        participant, of: share, at: version, timestamp: timestamp, in: database)
    }
    for var participant in change.participants.saved {
      if participant.isAnonymous, participant.details.link == nil {
        let link = try drawNumber()
        try links.add(
          link, ofRoot: share.root, participant: participant.id, inZone: share.zoneNumber,
          of: database)
        participant.details.link = link
      }
      try participants.save(participant, of: share, in: database)
    }
    return try shares.content(of: share.number, in: database)
  }

  /// If the root was not saved together with the share, it gets a new change tag.
  mutating func noteRoot(of change: ShareChange?, sharedBy share: Record) throws {
    guard let change, change.isNew, let number = change.share.root,
      let root = try record(numbered: number), root.record.share == nil
    else { return }
    try update(root) { $0.share = Reference(recordName: share.recordID.recordName) }
  }

  /// The first call adds the link.
  private mutating func link(ofRoot root: Int64?, inZone zone: Int64) throws -> Int64 {
    let links = ShareLinkTable(transaction: transaction)
    if let known = try links.number(ofRoot: root, inZone: zone, of: database) { return known }
    let link = try drawNumber()
    try links.add(link, ofRoot: root, inZone: zone, of: database)
    return link
  }

  /// The short GUID that a share of the record has now or later. nil for a record that cannot be
  /// shared: a share, or a record in the default zone or a public database.
  mutating func shortGUID(of record: Record, inZone zone: Int64) throws -> String? {
    guard address.scope == .private, !record.recordID.zoneID.isDefaultZone,
      record.recordType != ShareContent.recordType,
      let number = try RecordTable(transaction: transaction).number(
        of: record.recordID.recordName, inZone: zone, of: database)
    else { return nil }
    let link = try link(ofRoot: number, inZone: zone)
    return try ShareLinkTable(transaction: transaction).shortGUID(of: link, in: database)
  }

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

extension RecordWriter {
  func shareRecord(ofRoot stored: StoredRecord) throws -> StoredRecord? {
    guard address.scope == .private, stored.record.share != nil,
      let share = try ShareTable(transaction: transaction).share(
        ofRoot: stored.number, inZone: stored.zoneNumber, of: database)
    else { return nil }
    return try RecordTable(transaction: transaction).existingRecord(
      numbered: share.number, in: database)
  }

  /// Returns the root, with a new change tag, if it stays.
  mutating func endShare(_ number: Int64, at version: Int64) throws -> Record? {
    let shares = ShareTable(transaction: transaction)
    guard let share = try shares.share(number, in: database) else { return nil }
    let participants = ParticipantTable(transaction: transaction)
    let links = ShareLinkTable(transaction: transaction)
    if let root = share.root, try participants.hasReadersOfOthers(number, in: database) {
      try DepartureTable(transaction: transaction).addAll(
        below: root, inZone: share.zoneNumber, at: version, timestamp: timestamp, of: database)
    }
    for participant in try participants.participants(of: number, in: database) {
      if let link = participant.details.link { try links.remove(link, of: database) }
      try participants.end(
        participant, of: share, at: version, timestamp: timestamp, in: database)
    }
    try shares.remove(number, of: database)
    guard let root = share.root else { return nil }
    let hierarchy = HierarchyTable(transaction: transaction)
    if let parent = try hierarchy.place(of: root, in: database)?.parent {
      let top = try hierarchy.place(of: parent, in: database)?.top ?? parent
      try hierarchy.replace(
        top: root, with: top, at: version, inZone: share.zoneNumber, of: database)
    } else {
      try hierarchy.remove(root, of: database)
    }
    return try record(numbered: root).map { try update($0) { $0.share = nil } }
  }

  private func record(numbered number: Int64) throws -> StoredRecord? {
    try RecordTable(transaction: transaction).existingRecord(numbered: number, in: database)
  }

  /// Gives the share a new change tag and its zone a new version, because participants or
  /// requesters changed. `departed` are the users whose part ends with the change.
  mutating func touch(_ share: StoredShare, departed: [String] = []) throws {
    if let stored = try record(numbered: share.number) {
      try update(stored, departed: departed)
    }
    noteChange(inZone: share.zoneNumber)
  }
}

extension StoredParticipant {
  /// Invited by a link for a single use, which nobody has used.
  fileprivate var isAnonymous: Bool { user == nil && details.lookup == nil }
}

extension RecordWriter {
  /// Comes after the record's new place was written, or before its place is removed.
  ///
  /// - Parameter topBefore: the top of the record before a change that moved it.
  /// - Complexity: in a database without shares, no statement; otherwise at most four.
  func audience(
    ofRecord number: Int64, inZone zone: Int64, topBefore: Int64? = nil, departed: [String] = []
  ) throws -> ShareAudience {
    guard address.scope == .private,
      try OutboxTable(transaction: transaction).listeners(in: database).hasShares
    else { return ShareAudience(departed: departed) }
    let shares = ShareTable(transaction: transaction)
    if let share = try shares.number(ofRoot: nil, inZone: zone, of: database) {
      return ShareAudience(shares: [share], departed: departed)
    }
    let top = try HierarchyTable(transaction: transaction).place(of: number, in: database)?.top
    let tops = Set([top, topBefore].compactMap(\.self)).sorted()
    return ShareAudience(
      shares: try tops.compactMap { try shares.number(ofRoot: $0, inZone: zone, of: database) },
      departed: departed)
  }

  func departed(withDeletionOf stored: StoredRecord) throws -> [String] {
    guard stored.record.recordType == ShareContent.recordType else { return [] }
    return try ParticipantTable(transaction: transaction)
      .participants(of: stored.number, in: database).filter(\.mayRead).compactMap(\.joinedUser)
  }
}

extension StoredParticipant {
  var joinedUser: String? { joined == nil ? nil : user }
}
