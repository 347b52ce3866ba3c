import CloudKitModel
import StoreModel

extension StoreSession {
  /// What the value index holds of a record of this type.
  func indexEntries(
    of record: Record, type: RecordTypeEntry, at address: DatabaseAddress
  ) throws -> IndexEntries {
    // Other writers add fields without a word.
    if record.fields.contains(where: { type.fields[$0.key] == nil }) {
      try RecordTypeTable(session: self).loadFields(of: type)
    }
    return IndexEntries(of: record, fields: type.fields, hasOwner: address.owner != nil)
  }

  /// Brings the value index, the asset references and the reference edges from what they hold of
  /// `old` to `new`; the value index when what was gathered is written.
  func updateIndexes(
    from old: StoredRecord?, to new: StoredRecord, type: RecordTypeEntry, in database: DatabaseID
  ) throws {
    let address = try DatabaseTable(session: self).address(of: database)
    let entries = try indexEntries(of: new.record, type: type, at: address)
    if let old {
      let before = Set(try indexEntries(of: old.record, type: type, at: address).list)
      let after = Set(entries.list)
      for entry in before.subtracting(after) {
        gathered.index.note(
          entry, of: old.number, inZone: old.zoneNumber, of: database, isAddition: false)
      }
      for entry in after.subtracting(before) {
        gathered.index.note(
          entry, of: new.number, inZone: new.zoneNumber, of: database, isAddition: true)
      }
    } else {
      gathered.index.add(entries, of: new.number, inZone: new.zoneNumber, of: database)
    }
    try AssetTable(session: self).updateReferences(from: old, to: new, in: database)
    let targetsBefore = old?.record.deleteSelfTargets ?? []
    let targets = new.record.deleteSelfTargets
    for target in targetsBefore.subtracting(targets) {
      try ReferenceTable(session: self).remove(to: target, of: new, in: database)
    }
    for target in targets.subtracting(targetsBefore) {
      try ReferenceTable(session: self).add(to: target, of: new, in: database)
    }
  }

  /// Takes a record that is about to go out of the value index, the asset references and the reference
  /// edges; out of the value index when what was gathered is written.
  func removeIndexEntries(of stored: StoredRecord, in database: DatabaseID) throws {
    let address = try DatabaseTable(session: self).address(of: database)
    guard
      let type = try RecordTypeTable(session: self).type(
        named: stored.record.recordType, at: address)
    else { return }
    for entry in try indexEntries(of: stored.record, type: type, at: address).list {
      gathered.index.note(
        entry, of: stored.number, inZone: stored.zoneNumber, of: database, isAddition: false)
    }
    try AssetTable(session: self).updateReferences(from: stored, to: nil, in: database)
    for target in stored.record.deleteSelfTargets {
      try ReferenceTable(session: self).remove(to: target, of: stored, in: database)
    }
  }

  func add(
    _ entry: IndexEntry, of stored: StoredRecord, in database: DatabaseID
  ) throws {
    try connection.run(
      """
      INSERT INTO value_index (database_id, field_number, value_key, record_number, zone_number)
      VALUES ($1, $2, $3, $4, $5)
      """,
      [
        .integer(database.rawValue), .integer(entry.fieldNumber), .bytes(entry.key),
        .integer(stored.number), .integer(stored.zoneNumber),
      ])
  }

  func remove(
    _ entry: IndexEntry, of stored: StoredRecord, in database: DatabaseID
  ) throws {
    try connection.run(
      """
      DELETE FROM value_index
      WHERE database_id = $1 AND field_number = $2 AND value_key = $3 AND record_number = $4
      """,
      [
        .integer(database.rawValue), .integer(entry.fieldNumber), .bytes(entry.key),
        .integer(stored.number),
      ])
  }
}

extension Record {
  /// The names of the records whose deletion deletes this one.
  var deleteSelfTargets: Set<String> {
    var targets: Set<String> = []
    for value in fields.values {
      for reference in value.references where reference.action == .deleteSelf {
        targets.insert(reference.recordName)
      }
    }
    return targets
  }
}

extension RecordValue {
  /// The references of a reference field or a list of references.
  var references: [Reference] {
    switch self {
    case .reference(let reference): [reference]
    case .list(.reference, let elements): elements.flatMap(\.references)
    default: []
    }
  }
}
