import CloudKitModel
import StoreModel

/// The creation and deletion of zones of one database. Each adds a change to the outbox. A failed
/// operation does not affect the others.
struct ZoneModifier {
  let database: DatabaseID
  let origin: ChangeOrigin
  let timestamp: Timestamp
  let transaction: StoreTransaction
  private let address: DatabaseAddress

  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently, ``StoreError/Code/notFound`` if there is no such database.
  init(
    database: DatabaseID, origin: ChangeOrigin, timestamp: Timestamp,
    transaction: StoreTransaction
  ) throws {
    try UserDeletionTable(transaction: transaction).refuseDeleted(origin.userRecordName)
    self.database = database
    self.origin = origin
    self.timestamp = timestamp
    self.transaction = transaction
    address = try DatabaseTable(transaction: transaction).address(of: database)
  }

  /// With an ID of the request, the notification ID of a change is computed from it and the
  /// operation's number, so a repeated request gives the same.
  func run(_ operations: [ZoneOperation]) throws -> [ZoneOutcome] {
    return try operations.enumerated().map { number, operation in
      var change = Change(
        event: .zoneCreated, zoneID: .default, record: nil,
        notificationID: OutboxTable(transaction: transaction).notificationID(
          ofChange: Int64(number + 1), from: origin),
        timestamp: timestamp, userRecordName: origin.userRecordName, deviceID: origin.deviceID)
      switch operation {
      case .create(let name):
        change.zoneID = address.canonical(name)
        return try create(change)
      case .delete(let name):
        change.event = .zoneDeleted
        change.zoneID = address.canonical(name)
        return try delete(change)
      }
    }
  }

  private func create(_ change: Change) throws -> ZoneOutcome {
    let zoneID = change.zoneID
    guard address.scope != .private || zoneID.ownerName == ZoneID.currentOwnerName else {
      return .failed(zoneID, address.missing(zoneID))
    }
    let zones = ZoneTable(transaction: transaction)
    if let existing = try zones.zone(zoneID, in: database) { return .saved(existing) }
    do {
      try zoneID.validate()
    } catch {
      return .failed(zoneID, ItemFailure(error))
    }
    if let failure = try refusal(of: zoneID) { return .failed(zoneID, failure) }
    let zone = try zones.add(zoneID, in: database)
    try ZoneTombstoneTable(transaction: transaction).forgetDeletion(of: zoneID, in: database)
    try OutboxTable(transaction: transaction).post(change, sequence: zone.version, in: database)
    return .saved(zone)
  }

  private func refusal(of zoneID: ZoneID) throws -> ItemFailure? {
    let limit = transaction.context.quotas[.zonesPerDatabase]
    guard limit < .max else { return nil }
    let count = try ZoneTable(transaction: transaction).count(in: database)
    guard let count, count >= limit else { return nil }
    return transaction.context.quotas.refusal(
      of: .zonesPerDatabase, field: "zoneName",
      "zone '\(zoneID)' cannot be created: the database has \(count) zones, and the limit is \(limit). "
        + "Delete one first")
  }

  /// Deletes the contents too, and adds a tombstone (``ZoneTombstoneTable``). The default zone
  /// cannot be deleted.
  private func delete(_ change: Change) throws -> ZoneOutcome {
    let zoneID = change.zoneID
    guard !zoneID.isDefaultZone else {
      let failure = ItemFailure(
        .invalid, field: "zoneName", "the default zone cannot be deleted; delete its records")
      return .failed(zoneID, failure)
    }
    let tombstones = ZoneTombstoneTable(transaction: transaction)
    guard let number = try ZoneTable(transaction: transaction).number(of: zoneID, in: database)
    else {
      return .failed(zoneID, try tombstones.missing(zoneID, in: database, at: address))
    }
    let audience = ShareAudience(
      departed: address.scope == .private
        ? try ParticipantTable(transaction: transaction).users(inZone: number, of: database) : [])
    try deleteContent(ofZone: number)
    let sequence = try DatabaseTable(transaction: transaction).nextNumber(of: database)
    try tombstones.remember(
      deletionOf: zoneID, isPurge: origin.isByOperator, in: database, version: sequence,
      at: change.timestamp)
    try OutboxTable(transaction: transaction).post(
      change, sequence: sequence, in: database, audience: audience)
    return .deleted(zoneID)
  }

  /// Deletes the row and all that belongs to the zone. The records no longer hold their assets.
  private func deleteContent(ofZone number: Int64) throws {
    var last = ""
    while true {
      let records = try RecordTable(transaction: transaction).records(
        inZone: number, of: database, after: last)
      guard let final = records.last else { break }
      last = final.record.recordID.recordName
      for record in records {
        try RecordIndexes(transaction: transaction).remove(record, from: database)
        try DatabaseTable(transaction: transaction).countBytes(-record.contentSize, in: database)
      }
      // A zone may have any number of records, so the changes are written after each batch.
      try transaction.write()
    }
    try RecordTable(transaction: transaction).removeAll(inZone: number, of: database)
    try TombstoneTable(transaction: transaction).removeAll(inZone: number, of: database)
    try ClientChangeTokenTable(transaction: transaction).removeAll(inZone: number, of: database)
    try ReferenceTable(transaction: transaction).removeAll(inZone: number, of: database)
    try HierarchyTable(transaction: transaction).removeAll(inZone: number, of: database)
    try DepartureTable(transaction: transaction).removeAll(inZone: number, of: database)
    try ShareTable(transaction: transaction).removeAll(inZone: number, of: database)
    try ParticipantTable(transaction: transaction).removeAll(inZone: number, of: database)
    try ShareLinkTable(transaction: transaction).removeAll(inZone: number, of: database)
    try ZoneTable(transaction: transaction).remove(number, in: database)
  }
}
