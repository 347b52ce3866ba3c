import StoreModel

/// The indexes of records: the value index, the `deleteSelf` references, and the references to
/// assets.
struct RecordIndexes {
  let transaction: StoreTransaction

  /// The rows of the value index are written later, with the ``WriteSet``.
  ///
  /// - Parameter old: nil for a new record.
  func update(
    from old: StoredRecord?, to new: StoredRecord, type: RecordTypeEntry, in database: DatabaseID
  ) throws {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    let index = ValueIndexTable(transaction: transaction)
    let entries = try index.entries(of: new.record, type: type, at: address)
    if let old {
      let before = Set(try index.entries(of: old.record, type: type, at: address).list)
      let after = Set(entries.list)
      for entry in before.subtracting(after) {
        transaction.writes.index.note(
          entry, of: old.number, inZone: old.zoneNumber, of: database, isAddition: false)
      }
      for entry in after.subtracting(before) {
        transaction.writes.index.note(
          entry, of: new.number, inZone: new.zoneNumber, of: database, isAddition: true)
      }
    } else {
      transaction.writes.index.add(entries, of: new.number, inZone: new.zoneNumber, of: database)
    }
    try AssetTable(transaction: transaction).updateReferences(from: old, to: new, in: database)
    let targetsBefore = old?.record.deleteSelfTargets ?? []
    let targets = new.record.deleteSelfTargets
    for target in targetsBefore.subtracting(targets) {
      try ReferenceTable(transaction: transaction).remove(to: target, of: new, in: database)
    }
    for target in targets.subtracting(targetsBefore) {
      try ReferenceTable(transaction: transaction).add(to: target, of: new, in: database)
    }
  }

  /// Comes before the record is deleted. The rows of the value index are removed later, with the
  /// ``WriteSet``. Does nothing if the schema does not have the record's type.
  func remove(_ stored: StoredRecord, from database: DatabaseID) throws {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    guard
      let type = try RecordTypeTable(transaction: transaction).type(
        named: stored.record.recordType, at: address)
    else { return }
    for entry in try ValueIndexTable(transaction: transaction).entries(
      of: stored.record, type: type, at: address
    ).list {
      transaction.writes.index.note(
        entry, of: stored.number, inZone: stored.zoneNumber, of: database, isAddition: false)
    }
    try AssetTable(transaction: transaction).updateReferences(from: stored, to: nil, in: database)
    for target in stored.record.deleteSelfTargets {
      try ReferenceTable(transaction: transaction).remove(to: target, of: stored, in: database)
    }
  }
}
