import CloudKitModel
import StoreModel

/// The writes of records to one database in a transaction, with all that depends on a record: its
/// place in a hierarchy, its share, index entries, tombstones, and the outbox.
///
/// The writer does not check records: ``RecordModifier`` checks the operations of a request before it
/// writes them. The services of shares and the deletion of a user write without such a request.
struct RecordWriter {
  let transaction: StoreTransaction
  let database: DatabaseID
  /// The address of the database.
  let address: DatabaseAddress
  /// The user and device that make the changes.
  let origin: ChangeOrigin
  /// The time of the changes.
  let timestamp: Timestamp
  /// The supply of numbers for versions and changes. The next writer for the database in the same
  /// transaction uses the numbers that are left.
  private(set) var numbers: NumberSupply
  /// The number of the latest change of this writer; 0 before the first.
  private(set) var latest: Int64 = 0

  /// Creates a writer, and reserves numbers.
  ///
  /// - Parameter count: the expected number of changes.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted, or was a short time
  ///   ago; ``StoreError/Code/notFound`` if there is no such database.
  init(
    to database: DatabaseID, by origin: ChangeOrigin, at timestamp: Timestamp, count: Int = 0,
    transaction: StoreTransaction
  ) throws {
    try UserDeletionTable(transaction: transaction).refuseDeleted(origin.userRecordName)
    self.transaction = transaction
    self.database = database
    self.origin = origin
    self.timestamp = timestamp
    address = try DatabaseTable(transaction: transaction).address(of: database)
    numbers = try transaction.numbers(of: database, count: count)
  }

  // MARK: Numbers

  /// Draws a number that is no version of a record, such as that of a link.
  mutating func drawNumber() throws -> Int64 { try numbers.take(from: transaction) }

  /// Draws the number of a change, which is the version of the changed record.
  private mutating func drawVersion() throws -> Int64 {
    latest = try numbers.take(from: transaction)
    return latest
  }

  /// Sets the number of the latest change as the version of a zone. The commit writes it.
  func noteChange(inZone zoneNumber: Int64) {
    transaction.gathered.zoneVersions[Catalog.ZoneKey(database: database, number: zoneNumber)] =
      latest
    leaveNumbers()
  }

  /// Leaves the unused numbers to the next writer of the transaction.
  func leaveNumbers() {
    transaction.gathered.numbers[database] = numbers
  }

  // MARK: Writes

  /// Inserts a prepared record.
  ///
  /// - Returns: the version of the new record; nil if the zone has a record of this name. Nothing is
  ///   written then.
  mutating func insert(_ creation: RecordCreation, inZone zone: Int64) throws -> Int64? {
    let version = try numbers.take(from: transaction)
    let isMade = try RecordTable(transaction: transaction).insert(
      creation, version: version, inZone: zone, of: database)
    guard isMade else { return nil }
    latest = version
    try DatabaseTable(transaction: transaction).countBytes(creation.content.count, in: database)
    try TombstoneTable(transaction: transaction)
      .remove(recordNamed: creation.recordName, inZone: zone, of: database)
    transaction.gathered.index.add(creation.entries, of: version, inZone: zone, of: database)
    let tag = transaction.context.changeTags.tag(ofVersion: version, in: database)
    try post(
      .recordCreated, record: creation.record(taggedWith: tag), sequence: version,
      audience: try audience(ofRecord: version, inZone: zone))
    return version
  }

  /// Writes a checked record, with the record type and fields that the schema does not have yet.
  ///
  /// - Returns: the saved record, with its change tag.
  mutating func save(_ save: RecordSave) throws -> Record {
    let types = RecordTypeTable(transaction: transaction)
    var record = save.record
    let type = try save.type ?? types.add(named: record.recordType, at: address)
    for (name, fieldType) in save.newFields {
      try types.addField(
        name, of: fieldType, isEncrypted: record.encryptedFields.contains(name), to: type)
    }
    let current = save.current
    let version = try drawVersion()
    record.recordChangeTag = transaction.context.changeTags.tag(ofVersion: version, in: database)
    let stored = StoredRecord(
      number: current?.number ?? version, zoneNumber: save.zoneNumber, record: record)
    if current == nil { types.noteUse(of: type, in: database, at: address) }
    try write(stored, type: type, version: version, over: current)
    try write(save.hierarchyChange, of: stored, at: version)
    if let shareChange = save.shareChange {
      record.shareContent = try write(shareChange, of: stored, at: version)
      record.share = Reference(recordName: record.recordID.recordName)
    }
    try RecordIndexes(transaction: transaction).update(
      from: current, to: stored, type: type, in: database)
    try post(
      current == nil ? .recordCreated : .recordUpdated, record: record, sequence: version,
      audience: try audience(
        ofRecord: stored.number, inZone: stored.zoneNumber,
        topBefore: save.hierarchyChange?.topBefore, departed: save.shareChange?.departed ?? []))
    try noteRoot(of: save.shareChange, sharedBy: record)
    return record
  }

  /// Changes a stored record without an operation on it. The record gets a new version; its dates
  /// stay the same.
  ///
  /// - Parameters:
  ///   - departed: the users whose part in a share ends with the change.
  ///   - change: changes the record. It must not change the values of fields.
  /// - Returns: the record with its new change tag.
  /// - Throws: ``StoreError/Code/corrupt`` if the schema does not have the record's type.
  @discardableResult
  mutating func update(
    _ current: StoredRecord, departed: [String] = [], _ change: (inout Record) -> Void = { _ in }
  ) throws -> Record {
    let record = try rewrite(current, change)
    try post(
      .recordUpdated, record: record, sequence: latest,
      audience: try audience(
        ofRecord: current.number, inZone: current.zoneNumber, departed: departed))
    return record
  }

  /// Gives the parent of a saved record a new version, and so a new change tag. Change feeds have the
  /// parent again, but no subscription fires for it.
  mutating func raiseParent(_ name: String, inZone zone: Int64) throws {
    let parent = try RecordTable(transaction: transaction).record(
      named: name, inZone: zone, of: database)
    if let parent { try rewrite(parent) { _ in } }
  }

  /// Writes a stored record with a change and a new version. The change is not posted to the outbox.
  @discardableResult
  private mutating func rewrite(
    _ current: StoredRecord, _ change: (inout Record) -> Void
  ) throws -> Record {
    let recordType = current.record.recordType
    guard
      let type = try RecordTypeTable(transaction: transaction).type(named: recordType, at: address)
    else {
      throw StoreError(
        .corrupt,
        "record '\(current.record.recordID)' is of type '\(recordType)', which the schema does not "
          + "have")
    }
    var stored = current
    change(&stored.record)
    let version = try drawVersion()
    stored.record.recordChangeTag = transaction.context.changeTags.tag(
      ofVersion: version, in: database)
    try write(stored, type: type, version: version, over: current)
    if stored.record.isInHierarchy {
      try HierarchyTable(transaction: transaction).raise(version, of: stored.number, in: database)
    }
    try RecordIndexes(transaction: transaction).update(
      from: current, to: stored, type: type, in: database)
    return stored.record
  }

  /// Deletes a record, then the records that have a `deleteSelf` reference to it, then those that
  /// refer to these, and so on. A record that stays keeps its reference.
  ///
  /// Each deleted record gets a change and a tombstone of its own. A tombstone is a row that shows
  /// the deletion in change feeds. A record that is already deleted is skipped, so the method ends
  /// also when references form a cycle. The share of a deleted root is deleted with the root.
  ///
  /// - Parameter isDeletable: whether a record that refers to a deleted one is deleted too.
  mutating func delete(
    _ stored: StoredRecord, with isDeletable: (StoredRecord) throws -> Bool
  ) throws -> RecordDeletion {
    var deletion = RecordDeletion()
    var pending = [stored]
    // The shares that end, with the numbers of their deletions.
    var ended: [(share: Int64, version: Int64)] = []
    while let next = pending.popLast() {
      let sequence = try numbers.take(from: transaction)
      let audience = try audience(
        ofRecord: next.number, inZone: next.zoneNumber,
        departed: try departed(withDeletionOf: next))
      if next.record.isInHierarchy { try removePlace(of: next, at: sequence) }
      guard try RecordTable(transaction: transaction).remove(next.number, of: database) else {
        continue
      }
      latest = sequence
      try DatabaseTable(transaction: transaction).countBytes(-next.contentSize, in: database)
      try RecordIndexes(transaction: transaction).remove(next, from: database)
      let recordName = next.record.recordID.recordName
      deletion.names.append(recordName)
      transaction.gathered.zonesWithoutTombstones.remove(
        Catalog.ZoneKey(database: database, number: next.zoneNumber))
      try TombstoneTable(transaction: transaction).add(
        next, in: database, at: address, version: sequence, timestamp: timestamp)
      try post(.recordDeleted, record: next.record, sequence: sequence, audience: audience)
      pending += try RecordTable(transaction: transaction).holders(
        ofReferencesTo: recordName, inZone: next.zoneNumber, of: database
      ).filter(isDeletable)
      if next.record.recordType == ShareContent.recordType {
        ended.append((next.number, sequence))
      } else if let share = try shareRecord(ofRoot: next) {
        pending.append(share)
      }
    }
    for (share, version) in ended {
      if let root = try endShare(share, at: version) { deletion.unsharedRoots.append(root) }
    }
    return deletion
  }

  /// Writes the row of a record, and adds the change in size to the bytes of the database. For a
  /// new record, the method also removes the tombstone of its name.
  ///
  /// - Parameters:
  ///   - stored: the record to write.
  ///   - type: its record type.
  ///   - version: the number of this change.
  ///   - current: the stored record, whose row is replaced; nil to insert a row.
  private func write(
    _ stored: StoredRecord, type: RecordTypeEntry, version: Int64, over current: StoredRecord?
  ) throws {
    var encoder = RowEncoder(reserving: 256)
    encoder.encodeContent(of: stored.record)
    try DatabaseTable(transaction: transaction).countBytes(
      encoder.bytes.count - (current?.contentSize ?? 0), in: database)
    let records = RecordTable(transaction: transaction)
    if current != nil {
      try records.update(stored, content: encoder.bytes, version: version, in: database)
      return
    }
    let recordName = stored.record.recordID.recordName
    try records.insert(
      stored, ofType: type.number, content: encoder.bytes, version: version, in: database)
    try TombstoneTable(transaction: transaction)
      .remove(recordNamed: recordName, inZone: stored.zoneNumber, of: database)
  }

  /// Writes a change to the outbox, the table from which the dispatcher reads changes. If nobody
  /// learns of the change, nothing is written.
  ///
  /// - Parameters:
  ///   - event: the kind of the change.
  ///   - record: the record as the change has saved it, or as it was before its deletion. The
  ///     argument is evaluated only if the change is written.
  ///   - sequence: the number of the change.
  ///   - audience: the participants of shares who learn of the change.
  private func post(
    _ event: ChangeEvent, record: @autoclosure () -> Record, sequence: Int64,
    audience: ShareAudience
  ) throws {
    let outbox = OutboxTable(transaction: transaction)
    guard try !audience.isEmpty || outbox.listeners(numbers).isSubscribed else { return }
    let record = record()
    try outbox.post(
      Change(
        event: event, zoneID: record.recordID.zoneID, record: record,
        notificationID: outbox.notificationID(ofChange: sequence, from: origin),
        timestamp: timestamp, userRecordName: origin.userRecordName, deviceID: origin.deviceID),
      sequence: sequence, numbers: numbers, audience: audience)
  }

  // MARK: Savepoints

  /// The state of a writer just before a savepoint was set.
  struct Mark {
    /// The state of the transaction.
    fileprivate let written: StoreTransaction.Mark
    /// The numbers that were drawn and not yet used.
    fileprivate let numbers: NumberSupply
    /// The number of the latest change.
    let latest: Int64
  }

  /// The present state. Take it before the savepoint is set.
  var mark: Mark { Mark(written: transaction.mark, numbers: numbers, latest: latest) }

  /// Resets the writer and its transaction to a state. Call it after the rollback to the savepoint.
  ///
  /// The rollback also undoes the draws of numbers since the savepoint, so these numbers are drawn
  /// again.
  mutating func restore(_ mark: Mark) {
    transaction.restore(mark.written)
    numbers = mark.numbers
    latest = mark.latest
  }
}

/// The names of the records that a deletion deleted, and the roots that it changed.
struct RecordDeletion {
  /// The names of the deleted records.
  var names: [String] = []
  /// The records that were roots of shares which the deletion ended. They have new change tags.
  var unsharedRoots: [Record] = []
}
