import CloudKitModel
import Foundation
import StoreModel

extension SQLRecordStore {
  public func modifyRecords(
    _ modification: RecordModification
  ) async throws -> [RecordOutcome] {
    let prepared = PreparedModification(modification, by: writer.board)
    let outcomes = try await write(
      locking: .database(modification.database), gathersWrites: true
    ) { session in
      try session.modifyOnce(prepared)
    }
    return outcomes.told(
      by: prepared.creations, in: modification.database, tags: changeTags)
  }

  public func records(
    _ recordIDs: [RecordID], in database: DatabaseID
  ) async throws -> [Record?] {
    try await read { session in
      let address = try session.address(of: database)
      var zoneNumbers: [ZoneID: Int64?] = [:]
      return try recordIDs.map { recordID in
        let zoneID = address.canonical(recordID.zoneID)
        let known = try zoneNumbers[zoneID] ?? session.zoneNumber(of: zoneID, in: database)
        zoneNumbers[zoneID] = .some(known)
        guard let zoneNumber = known else { return nil }
        return try session.storedRecord(
          named: recordID.recordName, inZone: zoneNumber, of: database)?.record
      }
    }
  }
}

extension StoreSession {
  /// Writes a change to the outbox, and remembers it for the commit handler.
  ///
  /// A change in a database without subscriptions is passed over: it fires nothing however late it
  /// is dispatched, for a subscription does not fire on what was committed before it was saved.
  func post(
    _ change: @autoclosure () -> Change, sequence: Int64, numbers: NumberSupply
  ) throws {
    guard try isSubscribed(numbers) else { return }
    let change = change()
    var encoder = RowEncoder(reserving: 384)
    encoder.encode(change)
    try connection.runLater(
      """
      INSERT INTO outbox (database_id, sequence, subscription_version, content)
      VALUES ($1, $2, $3, $4)
      """,
      [
        .integer(numbers.database.rawValue), .integer(sequence),
        .integer(numbers.subscriptionVersion), .bytes(encoder.bytes),
      ])
    var entry = OutboxEntry(
      part: .whole(numbers.database), sequence: sequence,
      subscriptionVersion: numbers.subscriptionVersion, change: change)
    entry.isLarge = encoder.bytes.count > historyLimits.changeBytes
    outbox.append(entry)
  }

  /// - Parameter number: no other change of the request has it.
  func notificationID(ofChange number: Int64, from origin: ChangeOrigin) -> UUID {
    origin.request?.notificationID(ofChange: number) ?? makeUUID()
  }

  /// Whether the database has a subscription in this transaction. Drawing the numbers locked its
  /// row, so that no subscription is saved at the same time.
  func isSubscribed(_ numbers: NumberSupply) throws -> Bool {
    if let known = catalog.subscribed[numbers.database],
      known.version == numbers.subscriptionVersion
    {
      return known.isSubscribed
    }
    let isSubscribed =
      try connection.first(
        "SELECT 1 FROM subscriptions WHERE database_id = $1 LIMIT 1",
        [.integer(numbers.database.rawValue)]
      ) { _ in true } ?? false
    if catalog.subscribed.count >= 50_000 { catalog.subscribed = [:] }
    catalog.subscribed[numbers.database] = (numbers.subscriptionVersion, isSubscribed)
    return isSubscribed
  }
}
