import CloudKitModel
import StoreModel

// No index finds a user's name in other users' rows, so these steps scan all rows in batches.
extension UserDeletionStep {
  /// Scanned by a step. A record may have a megabyte.
  private static let examined: Int64 = 200

  /// In another user's private database, the records are the owner's and stay. Returns whether all
  /// were scanned.
  mutating func changeRecords() throws -> Bool {
    let records = RecordTable(transaction: transaction)
    let batch = try records.naming(
      user, after: row.position, examining: Self.examined, in: database)
    guard let batch else { return true }
    row.position = batch.end
    guard !batch.found.isEmpty else { return false }
    var writer = try RecordWriter(
      to: database, by: ChangeOrigin(userRecordName: UserIdentity.deletedUserRecordName),
      at: timestamp, transaction: transaction)
    let assets = AssetTable(transaction: transaction)
    let deletes = try deletion()
    for number in batch.found {
      // The record may have been deleted in this loop, with a record that it refers to.
      guard let stored = try records.existingRecord(numbered: number, in: database),
        stored.record.hasStamp(of: user)
      else { continue }
      if deletes(stored.record) {
        // Records of other users that refer to the deleted one stay.
        _ = try writer.delete(stored) { deletes($0.record) }
        for holding in stored.record.assetHoldings {
          try assets.drop(unheld: holding.checksum, of: database)
        }
      } else {
        // The stamps keep their times.
        try writer.update(stored) { [user] in $0.makeAnonymous(user) }
      }
      row.deletion.done += 1
      writer.noteChange(inZone: stored.zoneNumber)
    }
    return false
  }

  /// The user's own record of type `Users` is always deleted, because its name is the user's.
  private func deletion() throws -> (Record) -> Bool {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    let deletesCreated = row.deletion.publicRecords == .delete && address.scope == .public
    return { [user] record in
      record.isUserRecord(of: user)
        || (deletesCreated && record.created?.userRecordName == user)
    }
  }

  /// Waits until changes up to `row.position` are dispatched: subscribers must be notified before
  /// the next stages remove the user's name from the changes. The first call stores the database's
  /// last number as the position; later changes do not count.
  ///
  /// - Returns: true, because nothing is removed; the caller also checks the state.
  mutating func checkDispatch() throws -> Bool {
    if row.position == 0 {
      row.position =
        try DatabaseTable(transaction: transaction).lastNumber(drawnIn: database) ?? 0
    }
    let waits = try OutboxTable(transaction: transaction)
      .hasUndispatched(in: database, through: row.position)
    if waits { row.deletion.state = .waiting }
    return true
  }

  /// The tombstone has the user's name.
  private func forgetUserRecord() throws {
    let zone = try ZoneTable(transaction: transaction).number(of: .default, in: database)
    guard let zone else { return }
    try TombstoneTable(transaction: transaction)
      .remove(recordNamed: user, inZone: zone, of: database)
  }

  /// The first call for a database also deletes the tombstone of the user's own record. Returns
  /// whether all were scanned.
  mutating func changeHistory() throws -> Bool {
    if row.position == 0 { try forgetUserRecord() }
    let outbox = OutboxTable(transaction: transaction)
    let batch = try outbox.naming(
      user, after: row.position, examining: Self.examined, in: database)
    guard let batch else { return true }
    let deletes = try deletion()
    for sequence in batch.found {
      let isChanged = try outbox.update(sequence, in: database) { change, audience in
        let wasAudience = audience.remove(user)
        return change.makeAnonymous(user, deletes: deletes) || wasAudience
      }
      if isChanged { row.deletion.done += 1 }
    }
    row.position = batch.end
    return false
  }

  /// Deletes the user's notifications in a public database, and removes the user's name from those
  /// of others, in batches. Returns whether all were scanned.
  mutating func changeNotifications() throws -> Bool {
    let log = NotificationLogTable(transaction: transaction)
    let batch = try log.naming(
      user, after: row.position, examining: Self.examined, in: database)
    guard let batch else { return true }
    let deletes = try deletion()
    for sequence in batch.found {
      guard var notification = try log.entry(sequence, in: database)?.notification else { continue }
      if notification.subscriber == user {
        try remove(entry: sequence)
      } else {
        guard notification.change.makeAnonymous(user, deletes: deletes) else { continue }
        try log.setContent(notification.storedContent, ofEntry: sequence, in: database)
      }
      row.deletion.done += 1
    }
    row.position = batch.end
    return false
  }

  /// Also deletes deliveries and refused pushes, whose numbers lie between this entry's and the
  /// next one's.
  private func remove(entry sequence: Int64) throws {
    let log = NotificationLogTable(transaction: transaction)
    let next = try log.sequence(after: sequence, in: database) ?? .max
    try RefusedPushTable(transaction: transaction).remove(
      after: sequence, before: next, in: database)
    try DeliveryTable(transaction: transaction).remove(
      ofEntry: sequence, before: next, in: database)
    try log.remove(sequence, in: database)
  }
}

extension UserDeletionStep {
  /// Ends the shares of a private database before its rows are removed. The participants learn of
  /// each zone once; the deletion waits until they have. Returns whether nothing is left to do.
  mutating func endShares() throws -> Bool {
    guard try ShareTable(transaction: transaction).hasAny(in: database) else { return true }
    let participants = ParticipantTable(transaction: transaction)
    let outbox = OutboxTable(transaction: transaction)
    guard let zone = try participants.someZone(of: database) else {
      if try outbox.hasUndispatched(in: database) {
        row.deletion.state = .waiting
        return false
      }
      return true
    }
    let change = Change(
      event: .zoneDeleted,
      zoneID: try ZoneTable(transaction: transaction).id(of: zone, in: database), record: nil,
      notificationID: transaction.context.makeUUID(), timestamp: timestamp)
    try outbox.post(
      change, sequence: try DatabaseTable(transaction: transaction).nextNumber(of: database),
      in: database,
      audience: ShareAudience(departed: try participants.users(inZone: zone, of: database)))
    try participants.removeAll(inZone: zone, of: database)
    return false
  }
}
