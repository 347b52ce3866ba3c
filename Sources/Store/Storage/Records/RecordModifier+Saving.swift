import CloudKitModel
import SQLEngine
import StoreModel

extension RecordModifier {
  /// Checks a record and writes it with all consequences: schema, assets, references, index,
  /// tombstone and change.
  ///
  /// All checks come before the first write.
  ///
  /// - Parameters:
  ///   - record: the record to save, without its new change tag.
  ///   - named: the fields that the operation sets, in order. The other fields were checked when
  ///     they were saved.
  ///   - current: the stored record; nil to create one.
  ///   - zone: the zone of the record.
  /// - Returns: the saved record, with its change tag.
  /// - Throws: ``ItemFailure`` if the record is refused; ``BlockedOperation`` if it needs a record
  ///   that does not exist.
  mutating func save(
    _ record: Record, named: [String], over current: StoredRecord?, in zone: ZoneModification
  ) throws -> Record {
    var record = record
    do {
      try record.validate()
    } catch {
      throw ItemFailure(error)
    }
    let known = try RecordTypeTable(transaction: transaction).type(
      named: record.recordType, at: address)
    let newFields = try fit(&record, named: named, to: known)
    if known == nil || !newFields.isEmpty {
      try SchemaRequirements(transaction: transaction).requireSchema(
        of: record, hasType: known != nil, newFields: newFields.map(\.0), at: address)
      try RecordTypeTable(transaction: transaction).checkLimit(
        for: record, in: known, newFields: newFields.map(\.0), at: address)
    }
    try settleAssets(of: &record, named: named, over: current)
    try checkReferences(of: record, named: named, over: current, in: zone)
    let hierarchyChange = try hierarchyChange(of: record, over: current, in: zone)
    let shareChange = try shareChange(of: record, over: current, in: zone)

    let type =
      try known
      ?? RecordTypeTable(transaction: transaction).add(named: record.recordType, at: address)
    for (name, fieldType) in newFields {
      try RecordTypeTable(transaction: transaction).addField(
        name, of: fieldType, isEncrypted: record.encryptedFields.contains(name), to: type)
    }
    let version = try numbers.take(from: transaction)
    latest = version
    record.recordChangeTag = transaction.context.changeTags.tag(ofVersion: version, in: database)
    let stored = StoredRecord(
      number: current?.number ?? version, zoneNumber: zone.zoneNumber, record: record)
    if current == nil {
      RecordTypeTable(transaction: transaction).noteUse(of: type, in: database, at: address)
    }
    try write(stored, type: type, version: version, over: current)
    try write(hierarchyChange, of: stored, at: version)
    if let shareChange {
      record.shareContent = try write(shareChange, of: stored, at: version)
      record.share = Reference(recordName: record.recordID.recordName)
    }
    try RecordIndexes(transaction: transaction).update(
      from: current, to: stored, type: type, in: database)
    try post(
      current == nil ? .recordCreated : .recordUpdated, record: record, sequence: version)
    return record
  }

  /// Deletes a record and, recursively, the holders of `deleteSelf` references to it.
  ///
  /// Each deleted record gets a tombstone and a change of its own. A record that is already deleted
  /// is skipped, so cycles of references end. The share of a deleted root is deleted with it.
  ///
  /// - Throws: ``BlockedOperation`` if a record would be left that has a deleted one as its parent.
  mutating func delete(_ stored: StoredRecord) throws {
    try checkChildren(of: stored)
    var pending = [stored]
    // The shares that end, with the numbers of their deletions.
    var ended: [(share: Int64, version: Int64)] = []
    while let next = pending.popLast() {
      guard try RecordTable(transaction: transaction).remove(next.number, of: database) else {
        continue
      }
      try DatabaseTable(transaction: transaction).countBytes(-next.contentSize, in: database)
      try RecordIndexes(transaction: transaction).remove(next, from: database)
      if next.record.isInHierarchy {
        try HierarchyTable(transaction: transaction).remove(next.number, of: database)
      }
      let sequence = try numbers.take(from: transaction)
      latest = sequence
      let recordName = next.record.recordID.recordName
      transaction.gathered.zonesWithoutTombstones.remove(
        Catalog.ZoneKey(database: database, number: next.zoneNumber))
      try TombstoneTable(transaction: transaction).add(
        next, in: database, at: address, version: sequence, timestamp: modification.timestamp)
      try post(.recordDeleted, record: next.record, sequence: sequence)
      pending += try RecordTable(transaction: transaction).holders(
        ofReferencesTo: recordName, inZone: next.zoneNumber, of: database)
      if next.record.recordType == ShareContent.recordType {
        ended.append((next.number, sequence))
      } else if let share = try shareRecord(ofRoot: next) {
        pending.append(share)
      }
    }
    for (share, version) in ended { try endShare(share, at: version) }
  }

  /// Converts the named fields to the schema's types.
  ///
  /// - Parameters:
  ///   - record: the record, whose fields are converted.
  ///   - named: the fields that the operation sets.
  ///   - type: the record type; nil if the schema does not have it yet.
  /// - Returns: the fields that the schema does not have yet, with their types.
  /// - Throws: ``ItemFailure/Code/invalid`` for a value of another type, or if the encryption
  ///   differs from the schema's.
  private func fit(
    _ record: inout Record, named: [String], to type: RecordTypeEntry?
  ) throws -> [(String, FieldType)] {
    var newFields: [(String, FieldType)] = []
    for name in named {
      guard let value = record.fields[name] else { continue }
      let isEncrypted = record.encryptedFields.contains(name)
      if isEncrypted, address.scope == .public {
        throw ItemFailure(
          .invalid, field: name,
          "field '\(name)' of record '\(record.recordID)' cannot be encrypted in the public "
            + "database; only in private and shared ones")
      }
      guard
        let field = try type.flatMap({
          try RecordTypeTable(transaction: transaction).field(name, of: $0)
        })
      else {
        newFields.append((name, value.type))
        continue
      }
      guard field.isEncrypted == isEncrypted else {
        throw ItemFailure(
          .invalid, field: name,
          "field '\(name)' of record type '\(record.recordType)' is "
            + "\(field.isEncrypted ? "" : "not ")encrypted; record '\(record.recordID)' cannot have "
            + "it \(isEncrypted ? "encrypted" : "plain"). Use another field")
      }
      guard let fitted = value.fitted(to: field.type) else {
        throw ItemFailure(
          .invalid, field: name,
          "field '\(name)' of record '\(record.recordID)' is of type \(field.type) in record type "
            + "'\(record.recordType)'; a value of type \(value.type) cannot be saved in it")
      }
      record.fields[name] = fitted
    }
    return newFields
  }

  /// Checks the targets of a record's references.
  ///
  /// A new parent, and the target of a `validate` reference, must exist in the record's zone. The
  /// target of a `deleteSelf` reference need not exist, but must be in the zone. Other references
  /// are not checked.
  private func checkReferences(
    of record: Record, named: [String], over current: StoredRecord?, in zone: ZoneModification
  ) throws {
    if let parent = record.parent, parent != current?.record.parent {
      guard parent.action == .none else {
        throw ItemFailure(
          .invalid, field: "parent",
          "'parent' of record '\(record.recordID)' has the action \(parent.action.rawValue); a parent "
            + "has the action NONE")
      }
      try checkZone(of: parent, field: "parent", of: record, is: zone)
      try require(parent, field: "parent", of: record, in: zone)
    }
    let targetsBefore = current?.record.deleteSelfTargets ?? []
    for name in named {
      guard let value = record.fields[name] else { continue }
      for reference in value.references {
        switch reference.action {
        case .none:
          continue
        case .validate:
          try checkZone(of: reference, field: name, of: record, is: zone)
          try require(reference, field: name, of: record, in: zone)
        case .deleteSelf:
          try checkZone(of: reference, field: name, of: record, is: zone)
          if !targetsBefore.contains(reference.recordName) {
            try checkEdgeCount(of: reference, field: name, of: record, in: zone)
          }
        }
      }
    }
  }

  /// Checks that a reference stays in the zone of its record.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` for a reference to another zone.
  private func checkZone(
    of reference: Reference, field: String, of record: Record, is zone: ZoneModification
  ) throws {
    guard let zoneID = reference.zoneID, address.canonical(zoneID) != zone.zoneID
    else { return }
    throw ItemFailure(
      .invalid, field: field,
      "'\(field)' of record '\(record.recordID)' points into zone '\(zoneID)'; such a reference "
        + "must stay in its record's zone")
  }

  /// Checks that the target of a reference exists.
  ///
  /// - Throws: ``BlockedOperation`` if it does not. A later operation of the request may create it.
  private func require(
    _ reference: Reference, field: String, of record: Record, in zone: ZoneModification
  ) throws {
    let isThere = try RecordTable(transaction: transaction).contains(
      reference.recordName, inZone: zone.zoneNumber, of: database)
    guard !isThere else { return }
    throw BlockedOperation(
      recordName: reference.recordName,
      failure: ItemFailure(
        .referenceMissing, field: field,
        "'\(field)' of record '\(record.recordID)' points at record '\(reference.recordName)', "
          + "which does not exist; save it first or in the same request"))
  }

  /// Checks that a record has not reached the limit of `deleteSelf` references to it
  /// (`ServiceLimits.deleteSelfReferencesPerTarget`).
  ///
  /// - Throws: ``ItemFailure/Code/limitExceeded``.
  private func checkEdgeCount(
    of reference: Reference, field: String, of record: Record, in zone: ZoneModification
  ) throws {
    let limit = ServiceLimits.deleteSelfReferencesPerTarget
    let count = try ReferenceTable(transaction: transaction).count(
      to: reference.recordName, inZone: zone.zoneNumber, of: database)
    guard let count, count >= limit else { return }
    throw ItemFailure(
      .limitExceeded, field: field,
      "'\(field)' of record '\(record.recordID)' would be reference \(count + 1) with the "
        + "action DELETE_SELF to record '\(reference.recordName)'; the limit is \(limit)",
      limit: limit)
  }

  /// Writes a record's row, and counts its bytes. For a new record it removes the tombstone of its
  /// name.
  ///
  /// - Parameters:
  ///   - stored: the record to write.
  ///   - type: its record type.
  ///   - version: the number of this change.
  ///   - current: the row to replace; nil to insert one.
  func write(
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

  /// Writes the change to the outbox, unless the database has no subscription.
  ///
  /// - Parameters:
  ///   - event: the kind of the change.
  ///   - record: the record after the change, or before its deletion. It is evaluated only if the
  ///     change is written.
  ///   - sequence: the number of the change.
  func post(
    _ event: ChangeEvent, record: @autoclosure () -> Record, sequence: Int64
  ) throws {
    guard try SubscriptionTable(transaction: transaction).isSubscribed(numbers) else { return }
    let record = record()
    try OutboxTable(transaction: transaction).post(
      Change(
        event: event, zoneID: record.recordID.zoneID, record: record,
        notificationID: OutboxTable(transaction: transaction).notificationID(
          ofChange: sequence, from: modification.origin),
        timestamp: modification.timestamp,
        userRecordName: modification.origin.userRecordName,
        deviceID: modification.origin.deviceID),
      sequence: sequence, numbers: numbers)
  }
}
