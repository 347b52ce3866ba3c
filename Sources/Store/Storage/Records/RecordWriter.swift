import CloudKitModel
import StoreModel

/// Writes records to one database with all that depends on them: hierarchies, shares, index
/// entries, tombstones, and the outbox.
///
/// ``RecordModifier`` checks the operations of a request before. The services of shares and the
/// deletion of a user write without such a request.
struct RecordWriter {
  let transaction: StoreTransaction
  let database: DatabaseID
  let address: DatabaseAddress
  let origin: ChangeOrigin
  let timestamp: Timestamp
  /// 0 before the first change of this writer.
  private(set) var latest: Int64 = 0

  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted, or was a short time
  ///   ago; ``StoreError/Code/notFound`` if there is no such database.
  init(
    to database: DatabaseID, by origin: ChangeOrigin, at timestamp: Timestamp,
    transaction: StoreTransaction
  ) throws {
    try UserDeletionTable(transaction: transaction).refuseDeleted(origin.userRecordName)
    self.transaction = transaction
    self.database = database
    self.origin = origin
    self.timestamp = timestamp
    address = try DatabaseTable(transaction: transaction).address(of: database)
  }

  // MARK: Numbers

  func drawNumber() throws -> Int64 {
    try DatabaseTable(transaction: transaction).nextNumber(of: database)
  }

  private mutating func drawVersion() throws -> Int64 {
    latest = try drawNumber()
    return latest
  }

  func noteChange(inZone zoneNumber: Int64) {
    ZoneTable(transaction: transaction).raise(latest, of: zoneNumber, in: database)
  }

  // MARK: Writes

  /// Returns nil if the zone has a record of this name.
  mutating func insert(_ creation: RecordCreation, inZone zone: Int64) throws -> Int64? {
    let records = RecordTable(transaction: transaction)
    guard try !records.contains(creation.recordName, inZone: zone, of: database) else { return nil }
    let version = try drawVersion()
    records.decide(
      StoredRecord.Row(
        number: version, zoneNumber: zone, recordName: creation.recordName,
        typeNumber: creation.type.number, version: version, content: creation.content),
      over: nil, in: database)
    try DatabaseTable(transaction: transaction).countBytes(creation.content.count, in: database)
    try TombstoneTable(transaction: transaction)
      .remove(recordNamed: creation.recordName, inZone: zone, of: database)
    transaction.writes.index.add(creation.entries, of: version, inZone: zone, of: database)
    let tag = transaction.context.changeTags.tag(ofVersion: version, in: database)
    try post(
      .recordCreated, record: creation.record(taggedWith: tag), sequence: version,
      audience: try audience(ofRecord: version, inZone: zone))
    return version
  }

  /// Adds the record type and fields that the schema does not have yet.
  mutating func save(_ save: RecordSave) throws -> Record {
    let types = RecordTypeTable(transaction: transaction)
    var record = save.record
    var type = try save.type ?? types.add(named: record.recordType, at: address)
    // Only this transaction knows the new fields until its commit.
    if !save.newFields.isEmpty { type = type.copy }
    for (name, fieldType) in save.newFields {
      try types.addField(
        name, of: fieldType, isEncrypted: record.encryptedFields.contains(name), to: type)
    }
    let current = save.current
    let version = try drawVersion()
    record.recordChangeTag = transaction.context.changeTags.tag(ofVersion: version, in: database)
    let stored = StoredRecord(
      number: current?.number ?? version, zoneNumber: save.zoneNumber, record: record,
      typeNumber: type.number, version: version)
    if current == nil { types.noteUse(of: type, in: database, at: address) }
    try write(stored, over: current)
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

  /// The record gets a new version; its dates stay the same. `departed` are the users whose part in
  /// a share ends. `change` must not change the values of fields.
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

  /// Change feeds have the parent again, but no subscription fires for it.
  mutating func raiseParent(_ name: String, inZone zone: Int64) throws {
    let parent = try RecordTable(transaction: transaction).record(
      named: name, inZone: zone, of: database)
    if let parent { try rewrite(parent) { _ in } }
  }

  /// Does not post the change to the outbox.
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
    stored.version = version
    stored.record.recordChangeTag = transaction.context.changeTags.tag(
      ofVersion: version, in: database)
    try write(stored, over: current)
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
  /// Each deleted record gets a change and a tombstone, which shows the deletion in change feeds.
  /// A record that is already deleted is skipped, so cycles end. The share of a deleted root is
  /// deleted with the root.
  mutating func delete(
    _ stored: StoredRecord, with isDeletable: (StoredRecord) throws -> Bool
  ) throws -> RecordDeletion {
    var deletion = RecordDeletion()
    var pending = [stored]
    // The shares that end, with the numbers of their deletions.
    var ended: [(share: Int64, version: Int64)] = []
    while let next = pending.popLast() {
      let sequence = try drawNumber()
      let audience = try audience(
        ofRecord: next.number, inZone: next.zoneNumber,
        departed: try departed(withDeletionOf: next))
      if next.record.isInHierarchy { try removePlace(of: next, at: sequence) }
      guard RecordTable(transaction: transaction).remove(next, of: database) else { continue }
      latest = sequence
      try DatabaseTable(transaction: transaction).countBytes(-next.contentSize, in: database)
      try RecordIndexes(transaction: transaction).remove(next, from: database)
      let recordName = next.record.recordID.recordName
      deletion.names.append(recordName)
      TombstoneTable(transaction: transaction).add(
        next, in: database, version: sequence, timestamp: timestamp)
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

  private func write(_ stored: StoredRecord, over current: StoredRecord?) throws {
    var encoder = RowEncoder(reserving: 256)
    encoder.encodeContent(of: stored.record)
    try DatabaseTable(transaction: transaction).countBytes(
      encoder.bytes.count - (current?.contentSize ?? 0), in: database)
    let recordName = stored.record.recordID.recordName
    RecordTable(transaction: transaction).decide(
      StoredRecord.Row(
        number: stored.number, zoneNumber: stored.zoneNumber, recordName: recordName,
        typeNumber: stored.typeNumber, version: stored.version, content: encoder.bytes),
      over: current, in: database)
    if current == nil {
      try TombstoneTable(transaction: transaction)
        .remove(recordNamed: recordName, inZone: stored.zoneNumber, of: database)
    }
  }

  /// Writes nothing if nobody learns of the change.
  private func post(
    _ event: ChangeEvent, record: @autoclosure () -> Record, sequence: Int64,
    audience: ShareAudience
  ) throws {
    let outbox = OutboxTable(transaction: transaction)
    guard try !audience.isEmpty || outbox.listeners(in: database).isSubscribed else { return }
    let record = record()
    try outbox.post(
      Change(
        event: event, zoneID: record.recordID.zoneID, record: record,
        notificationID: outbox.notificationID(ofChange: sequence, from: origin),
        timestamp: timestamp, userRecordName: origin.userRecordName, deviceID: origin.deviceID),
      sequence: sequence, in: database, audience: audience)
  }

  // MARK: Marks

  /// A state to which a writer can return.
  struct Mark {
    fileprivate let transaction: StoreTransaction.Mark
    let latest: Int64
  }

  func mark(_ name: String) throws -> Mark {
    Mark(transaction: try transaction.mark(name), latest: latest)
  }

  mutating func restore(_ mark: Mark) throws {
    try transaction.restore(mark.transaction)
    latest = mark.latest
  }

  func release(_ mark: Mark) throws { try transaction.release(mark.transaction) }
}

/// The deleted records, and the roots that changed.
struct RecordDeletion {
  var names: [String] = []
  var unsharedRoots: [Record] = []
}
