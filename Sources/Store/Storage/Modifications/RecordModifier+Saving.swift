import CloudKitModel
import SQLEngine
import StoreModel

extension RecordModifier {
  /// Checks a record, then writes the record and all that depends on it: new types and fields, rows
  /// for references and assets, and index entries.
  ///
  /// If a record of the same name was deleted before, the method removes the row that shows the
  /// deletion, the *tombstone*. At the end it adds the change to the outbox, from which the
  /// dispatcher reads changes.
  ///
  /// All checks come before the first write.
  ///
  /// - Parameters:
  ///   - record: the record to save, without its new change tag.
  ///   - named: the names of the fields that the operation sets. The other fields were checked when
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
    let hierarchyChange =
      address.scope == .private
      ? try hierarchy.change(of: record, over: current, inZone: zone.zoneNumber) : nil
    let shareChange = try ShareCheck(
      modification: modification, address: address, zone: zone, transaction: transaction
    ).change(of: record, over: current)

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
      current == nil ? .recordCreated : .recordUpdated, record: record, sequence: version,
      audience: try audience(
        ofRecord: stored.number, inZone: stored.zoneNumber, topBefore: hierarchyChange?.topBefore,
        departed: shareChange?.departed ?? []))
    return record
  }

  /// Deletes a record, then the records that have a `deleteSelf` reference to it, then those that
  /// refer to these, and so on.
  ///
  /// Each deleted record gets a change and a tombstone of its own. A tombstone is a row that shows
  /// the deletion in change feeds. A record that is already deleted is skipped, so the method ends
  /// also when references form a cycle. The share of a deleted root is deleted with the root.
  ///
  /// - Throws: ``BlockedOperation`` if a record would be left that has a deleted one as its parent.
  mutating func delete(_ stored: StoredRecord) throws {
    if address.scope == .private { try hierarchy.checkChildren(of: stored, seenIn: shared) }
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
      deletedNames.append(recordName)
      transaction.gathered.zonesWithoutTombstones.remove(
        Catalog.ZoneKey(database: database, number: next.zoneNumber))
      try TombstoneTable(transaction: transaction).add(
        next, in: database, at: address, version: sequence, timestamp: modification.timestamp)
      try post(.recordDeleted, record: next.record, sequence: sequence, audience: audience)
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

  /// Converts the values of the named fields to the types in the schema.
  ///
  /// - Parameters:
  ///   - record: the record, whose fields are converted.
  ///   - named: the fields that the operation sets.
  ///   - type: the record type; nil if the schema does not have it yet.
  /// - Returns: the fields that the schema does not have yet, with their types.
  /// - Throws: ``ItemFailure/Code/invalid`` for a value of another type, or an encrypted value in a
  ///   public database. A value that is encrypted while the field in the schema is not, or the
  ///   reverse, is invalid too.
  private func fit(
    _ record: inout Record, named: [String], to type: RecordTypeEntry?
  ) throws -> [(String, FieldType)] {
    // Other processes add fields, too.
    if let type, named.contains(where: { type.fields[$0] == nil }) {
      try RecordTypeTable(transaction: transaction).loadFields(of: type)
    }
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
      guard let field = type?.fields[name] else {
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
  /// A new parent must exist in the zone of the record, and so must the target of a `validate`
  /// reference. The target of a `deleteSelf` reference must be in the zone, but need not exist; the
  /// number of such references to it is limited. Other references are not checked.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` for a target in another zone; ``BlockedOperation``;
  ///   ``ItemFailure/Code/limitExceeded``.
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

  /// Checks that the target of a reference is in the zone of the record.
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
  /// - Throws: ``BlockedOperation`` if the target does not exist. A later operation of the request
  ///   may create the target.
  private func require(
    _ reference: Reference, field: String, of record: Record, in zone: ZoneModification
  ) throws {
    let target = try RecordTable(transaction: transaction).number(
      of: reference.recordName, inZone: zone.zoneNumber, of: database)
    guard let target, try shared.map({ try $0.membership(ofRecord: target) != nil }) ?? true else {
      throw missingTarget(of: reference, field: field, of: record)
    }
  }

  /// Returns the error for a reference whose target does not exist, or not for the requester.
  func missingTarget(
    of reference: Reference, field: String, of record: Record
  ) -> BlockedOperation {
    BlockedOperation(
      recordNames: [reference.recordName],
      failure: ItemFailure(
        .referenceMissing, field: field,
        "'\(field)' of record '\(record.recordID)' points at record '\(reference.recordName)', "
          + "which does not exist; save it first or in the same request"))
  }

  /// Checks that one more record may refer to a target with `deleteSelf`. The limit is
  /// `ServiceLimits.deleteSelfReferencesPerTarget` records for each target.
  ///
  /// - Throws: ``ItemFailure/Code/limitExceeded`` if the limit is reached.
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

  /// Writes the row of a record, and adds the change in size to the bytes of the database. For a
  /// new record, the method also removes the tombstone of its name.
  ///
  /// - Parameters:
  ///   - stored: the record to write.
  ///   - type: its record type.
  ///   - version: the number of this change.
  ///   - current: the stored record, whose row is replaced; nil to insert a row.
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

  /// Writes a change to the outbox, the table from which the dispatcher reads changes. If nobody
  /// learns of the change, nothing is written.
  ///
  /// - Parameters:
  ///   - event: the kind of the change.
  ///   - record: the record as the change has saved it, or as it was before its deletion. The
  ///     argument is evaluated only if the change is written.
  ///   - sequence: the number of the change.
  ///   - audience: the participants of shares who learn of the change.
  func post(
    _ event: ChangeEvent, record: @autoclosure () -> Record, sequence: Int64,
    audience: ShareAudience
  ) throws {
    let outbox = OutboxTable(transaction: transaction)
    guard try !audience.isEmpty || outbox.listeners(numbers).isSubscribed else { return }
    let record = record()
    try outbox.post(
      Change(
        event: event, zoneID: record.recordID.zoneID, record: record,
        notificationID: outbox.notificationID(ofChange: sequence, from: modification.origin),
        timestamp: modification.timestamp,
        userRecordName: modification.origin.userRecordName,
        deviceID: modification.origin.deviceID),
      sequence: sequence, numbers: numbers, audience: audience)
  }
}
