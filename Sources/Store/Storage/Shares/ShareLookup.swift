import CloudKitModel
import StoreModel

/// The shares of all users as administrators see them, in one transaction.
struct ShareLookup {
  let transaction: StoreTransaction

  private var shares: ShareTable { ShareTable(transaction: transaction) }

  // MARK: Lists

  /// The shares of other containers are among them.
  func places(
    _ filter: ShareFilter, after place: ShareSummary.Place, limit: Int
  ) throws -> [ShareSummary.Place] {
    if let participant = filter.participant {
      return try ParticipantTable(transaction: transaction).shares(
        with: participant, in: filter.database, after: place, limit: limit)
    }
    return try shares.places(in: filter.database, after: place, limit: limit)
  }

  /// Returns nil for another container or environment.
  func summary(
    at place: ShareSummary.Place, in container: ContainerPlace
  ) throws -> ShareSummary? {
    let address = try DatabaseTable(transaction: transaction).address(of: place.database)
    guard address.container == container.container, address.environment == container.environment,
      let share = try shares.shareWithoutRequests(place.number, in: place.database)
    else { return nil }
    return try summary(of: share, at: address, in: place.database)
  }

  private func summary(
    of share: StoredShare, at address: DatabaseAddress, in database: DatabaseID
  ) throws -> ShareSummary {
    let records = RecordTable(transaction: transaction)
    let counts = try ParticipantTable(transaction: transaction).counts(
      of: share.number, in: database)
    return ShareSummary(
      place: ShareSummary.Place(database: database, number: share.number),
      owner: address.owner ?? "",
      shareID: RecordID(
        recordName: try records.name(of: share.number, in: database) ?? "",
        zoneID: try ZoneTable(transaction: transaction).id(of: share.zoneNumber, in: database)),
      rootRecordName: try share.root.flatMap { try records.name(of: $0, in: database) },
      publicPermission: share.publicPermission, invited: counts.invited, accepted: counts.accepted)
  }

  // MARK: Single shares and records

  /// A share with its record.
  struct Found {
    var share: StoredShare
    var record: Record
    var address: DatabaseAddress
  }

  func find(_ shareID: RecordID, in database: DatabaseID) throws -> Found? {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    guard let stored = try record(shareID, at: address, in: database),
      let share = try shares.shareWithoutRequests(stored.number, in: database)
    else { return nil }
    return Found(share: share, record: stored.record, address: address)
  }

  func share(_ shareID: RecordID, in database: DatabaseID) throws -> AdministeredShare? {
    guard let found = try find(shareID, in: database) else { return nil }
    let limit = AdministeredShare.countLimit
    let count = try coveredRecords(of: found.share, in: database, limit: limit + 1)
    return AdministeredShare(
      summary: try summary(of: found.share, at: found.address, in: database),
      record: found.record, coveredRecords: min(count, limit), coversMore: count > limit)
  }

  /// Does not count the record of the share. Returns at most `limit`.
  private func coveredRecords(
    of share: StoredShare, in database: DatabaseID, limit: Int
  ) throws -> Int {
    let count =
      if let root = share.root {
        try HierarchyTable(transaction: transaction).count(
          below: root, inZone: share.zoneNumber, of: database, limit: limit + 1)
      } else {
        try RecordTable(transaction: transaction).count(
          inZone: share.zoneNumber, of: database, limit: limit + 1)
      }
    return max(0, count - 1)
  }

  func readers(of recordID: RecordID, in database: DatabaseID) throws -> RecordReaders? {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    guard let stored = try record(recordID, at: address, in: database) else { return nil }
    var readers = RecordReaders(owner: address.owner ?? "", share: nil, participants: [])
    guard let share = try share(covering: stored, in: database) else { return readers }
    readers.share = try summary(of: share, at: address, in: database)
    readers.participants =
      try shares.content(of: share.number, in: database)?.participants?
      .filter {
        $0.role != .owner && $0.acceptance == .accepted
          && AccessPolicy.refusal(of: .read, as: $0.role, with: $0.permission) == nil
      } ?? []
    return readers
  }

  private func share(
    covering stored: StoredRecord, in database: DatabaseID
  ) throws -> StoredShare? {
    if let share = try shares.share(ofRoot: nil, inZone: stored.zoneNumber, of: database) {
      return share
    }
    let place = try HierarchyTable(transaction: transaction).place(of: stored.number, in: database)
    return try place.flatMap {
      try shares.share(ofRoot: $0.top, inZone: stored.zoneNumber, of: database)
    }
  }

  private func record(
    _ recordID: RecordID, at address: DatabaseAddress, in database: DatabaseID
  ) throws -> StoredRecord? {
    guard address.scope == .private,
      let zone = try ZoneTable(transaction: transaction).number(
        of: address.canonical(recordID.zoneID), in: database)
    else { return nil }
    return try RecordTable(transaction: transaction).record(
      named: recordID.recordName, inZone: zone, of: database)
  }

  // MARK: Changes

  /// Carries out an operation as the owner would, with the failure of one that is refused.
  func modify(
    _ operation: RecordOperation, in database: DatabaseID, at timestamp: Timestamp
  ) throws {
    var modifier = try RecordModifier(
      PreparedModification(
        RecordModification(
          database: database, operations: [operation], isAtomic: false,
          origin: try owner(of: database), isByAdministrator: true, timestamp: timestamp)),
      transaction: transaction)
    let outcomes = try modifier.run().recordOutcomes(
      for: [], in: database, tags: transaction.context.changeTags)
    for case .failed(let failure) in outcomes { throw failure }
  }

  func renewLink(of share: StoredShare, in database: DatabaseID, at timestamp: Timestamp) throws {
    var writer = try RecordWriter(
      to: database, by: try owner(of: database), at: timestamp, transaction: transaction)
    try writer.renewLink(of: share)
  }

  private func owner(of database: DatabaseID) throws -> ChangeOrigin {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    return ChangeOrigin(userRecordName: address.owner ?? "")
  }
}
