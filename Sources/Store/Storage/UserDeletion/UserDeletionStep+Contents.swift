import CloudKitModel
import StoreModel

// No index finds a user's name in other users' rows, so these steps scan all rows in batches.
extension UserDeletionStep {
  /// The most rows that a step scans. A record may have a megabyte.
  private static let examined: Int64 = 200

  /// Deletes the user's records in a public database, or removes the user's name from them. In
  /// another user's private database, the records are the owner's and stay. The method scans a batch
  /// of records.
  ///
  /// - Returns: whether all records were scanned.
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

  /// Returns the rule that says whether a record of the present database is deleted. The user's own
  /// record of type `Users` always is, because its name is the user's.
  private func deletion() throws -> (Record) -> Bool {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    let deletesCreated = row.deletion.publicRecords == .delete && address.scope == .public
    return { [user] record in
      record.isUserRecord(of: user)
        || (deletesCreated && record.created?.userRecordName == user)
    }
  }

  /// Sets the deletion's state to `waiting` while changes up to `row.position` are not dispatched.
  /// Subscribers must be notified before the next stages remove the user's name from the changes.
  ///
  /// The first call stores the last number of the database as the position. The deletion does not
  /// wait for later changes.
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

  /// Deletes the tombstone of the user's own record, whose name is the user's.
  private func forgetUserRecord() throws {
    let zone = try ZoneTable(transaction: transaction).number(of: .default, in: database)
    guard let zone else { return }
    try TombstoneTable(transaction: transaction)
      .remove(recordNamed: user, inZone: zone, of: database)
  }

  /// Removes the user's name from a batch of a database's stored changes. The first call for a
  /// database also deletes the tombstone of the user's own record.
  ///
  /// - Returns: whether all changes were scanned.
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
  /// of other users. It scans a batch of entries.
  ///
  /// - Returns: whether all entries were scanned.
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

  /// Deletes a notification with its deliveries and refused pushes. Their numbers lie between the
  /// sequence of this notification and that of the next one.
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
