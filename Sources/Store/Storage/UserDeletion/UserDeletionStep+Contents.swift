import CloudKitModel
import SQLEngine
import StoreModel

// Nothing leads to the rows in which a user's name stands among others': they are looked through.
extension UserDeletionStep {
  /// Rows that a step looks at. A record may have a megabyte.
  private static let examined: Int64 = 200

  private var nameBytes: SQLValue { .bytes(Array(user.utf8)) }

  /// A condition for rows whose contents have the user's name.
  private var names: String { transaction.contentHolds("$4") }

  /// The end of the next batch of rows, in the order of a number; nil when there are no more.
  private func endOfBatch(_ table: String, by number: String) throws -> Int64? {
    try connection.first(
      """
      SELECT MAX(\(number)) FROM (
        SELECT \(number) FROM \(table) WHERE database_id = $1 AND \(number) > $2
        ORDER BY \(number) LIMIT $3) AS batch
      """, [place, .integer(row.position), .integer(Self.examined)]
    ) { $0.optionalInteger(0) } ?? nil
  }

  mutating func changeRecords() throws -> Bool {
    guard let end = try endOfBatch("records", by: "record_number") else { return true }
    let numbers = try connection.rows(
      """
      SELECT record_number FROM records
      WHERE database_id = $1 AND record_number > $2 AND record_number <= $3 AND \(names)
      ORDER BY record_number
      """, [place, .integer(row.position), .integer(end), nameBytes]
    ) { $0.integer(0) }
    row.position = end
    guard !numbers.isEmpty else { return false }
    var modifier = try RecordModifier(
      PreparedModification(
        RecordModification(
          database: database, operations: [], isAtomic: false,
          origin: ChangeOrigin(userRecordName: UserIdentity.deletedUserRecordName),
          appliesGrants: false, timestamp: timestamp)), transaction: transaction)
    for number in numbers {
      let stored = try connection.first(
        StoredRecord.selection + " WHERE database_id = $1 AND record_number = $2",
        [place, .integer(number)], StoredRecord.Row.init
      ).map { try RecordTable(transaction: transaction).record($0, in: database) }
      // It may have gone with one that it refers to.
      guard let stored, stored.record.hasStamp(of: user) else { continue }
      if deletes(stored.record) {
        try modifier.delete(stored)
        for holding in stored.record.assetHoldings { try disposeOfAsset(holding.checksum) }
      } else {
        try modifier.makeAnonymous(user, in: stored)
      }
      row.deletion.done += 1
      modifier.noteChange(inZone: stored.zoneNumber)
    }
    transaction.gathered.numbers[database] = modifier.numbers
    return false
  }

  /// Whether the record goes: the user's own of the type `Users` has the user's name for its own.
  private func deletes(_ record: Record) -> Bool {
    if record.isUserRecord(of: user) { return true }
    return row.deletion.publicRecords == .delete && record.created?.userRecordName == user
  }

  /// What others are to learn of the records has to come to them before the traces go.
  mutating func waitForDispatch() throws -> Bool {
    if row.position == 0 {
      row.position =
        try connection.first(
          "SELECT last_number FROM databases WHERE database_id = $1", [place]
        ) { $0.integer(0) } ?? 0
    }
    let through =
      try DispatchTable(transaction: transaction).position(of: database)?.wholeThrough ?? .min
    let waits = try connection.first(
      """
      SELECT 1 FROM outbox WHERE database_id = $1 AND sequence > $2 AND sequence <= $3 LIMIT 1
      """, [place, .integer(through), .integer(row.position)]
    ) { _ in true }
    if waits != nil { row.deletion.state = .waiting }
    return true
  }

  /// The feed forgets the deletion of the user's own record, whose name is the user's.
  private func forgetUserRecord() throws {
    guard let zone = try ZoneTable(transaction: transaction).number(of: .default, in: database)
    else {
      return
    }
    try connection.run(
      "DELETE FROM tombstones WHERE database_id = $1 AND zone_number = $2 AND record_name = $3",
      [place, .integer(zone), .text(user)])
  }

  mutating func changeHistory() throws -> Bool {
    if row.position == 0 { try forgetUserRecord() }
    guard let end = try endOfBatch("outbox", by: "sequence") else { return true }
    let changes = try connection.rows(
      """
      SELECT sequence, content FROM outbox
      WHERE database_id = $1 AND sequence > $2 AND sequence <= $3 AND \(names)
      ORDER BY sequence
      """, [place, .integer(row.position), .integer(end), nameBytes]
    ) { (sequence: $0.integer(0), content: $0.bytes(1)) }
    for (sequence, content) in changes {
      var decoder = try RowDecoder(content, of: "change \(sequence) of database \(row.database)")
      var change = try decoder.decodeChange()
      try decoder.finish()
      guard change.makeAnonymous(user, deletes: deletes) else { continue }
      var encoder = RowEncoder(reserving: content.count)
      encoder.encode(change)
      try connection.run(
        "UPDATE outbox SET content = $3 WHERE database_id = $1 AND sequence = $2",
        [place, .integer(sequence), .bytes(encoder.bytes)])
      row.deletion.done += 1
    }
    row.position = end
    return false
  }

  mutating func changeNotifications() throws -> Bool {
    guard let end = try endOfBatch("notification_log", by: "sequence") else { return true }
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    let entries = try connection.rows(
      """
      SELECT sequence, subscriber, content FROM notification_log
      WHERE database_id = $1 AND sequence > $2 AND sequence <= $3
        AND (subscriber = $5 OR \(names))
      ORDER BY sequence
      """, [place, .integer(row.position), .integer(end), nameBytes, .text(user)]
    ) { (sequence: $0.integer(0), subscriber: $0.text(1), content: $0.bytes(2)) }
    for (sequence, subscriber, content) in entries {
      if subscriber == user {
        try remove(entry: sequence)
      } else {
        var notification = try SubscriptionNotification(
          stored: content, database: address, subscriber: subscriber)
        guard notification.change.makeAnonymous(user, deletes: deletes) else { continue }
        try NotificationLogTable(transaction: transaction)
          .setContent(notification.storedContent, ofEntry: sequence, in: database)
      }
      row.deletion.done += 1
    }
    row.position = end
    return false
  }

  /// Removes a notification with its deliveries. Their numbers follow it, up to the next.
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
