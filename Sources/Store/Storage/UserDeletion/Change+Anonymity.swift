import CloudKitModel
import StoreModel

extension Record {
  /// Returns whether the user created the record or modified it last.
  func hasStamp(of user: String) -> Bool {
    created?.userRecordName == user || modified?.userRecordName == user
  }

  /// Returns whether this is the user's own record of type `Users`.
  func isUserRecord(of user: String) -> Bool {
    recordType == "Users" && recordID.recordName == user
  }

  /// Replaces a user in the stamps by ``UserIdentity/deletedUserRecordName``.
  ///
  /// The times stay, and the device is removed with the user.
  mutating func makeAnonymous(_ user: String) {
    created?.makeAnonymous(user)
    modified?.makeAnonymous(user)
  }
}

extension Record.Stamp {
  /// Replaces the user and removes the device, if the stamp is the user's.
  fileprivate mutating func makeAnonymous(_ user: String) {
    guard userRecordName == user else { return }
    userRecordName = UserIdentity.deletedUserRecordName
    deviceID = nil
  }
}

extension Change {
  /// Removes a user's name from a dispatched change.
  ///
  /// - Parameters:
  ///   - user: the user's record name.
  ///   - deletes: whether a record is deleted with its user; then its values are removed too.
  /// - Returns: whether the change had the user's name. In the values of other users' records the
  ///   name stays.
  mutating func makeAnonymous(_ user: String, deletes: (Record) -> Bool) -> Bool {
    let isUsers = userRecordName == user
    guard isUsers || record?.hasStamp(of: user) == true || record?.isUserRecord(of: user) == true
    else { return false }
    if isUsers {
      userRecordName = UserIdentity.deletedUserRecordName
      deviceID = nil
    }
    guard var changed = record else { return true }
    if deletes(changed) {
      changed.fields = RecordFields()
      changed.encryptedFields = []
      changed.parent = nil
    }
    if changed.isUserRecord(of: user) {
      changed.recordID.recordName = UserIdentity.deletedUserRecordName
    }
    changed.makeAnonymous(user)
    record = changed
    return true
  }
}

extension RecordModifier {
  /// Removes a user's name from a record's stamps, by a change like any other except that the
  /// stamps keep their times.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if the schema does not have the record's type.
  mutating func makeAnonymous(_ user: String, in current: StoredRecord) throws {
    guard
      let type = try RecordTypeTable(transaction: transaction).type(
        named: current.record.recordType, at: address)
    else {
      throw StoreError(
        .corrupt, "record '\(current.record.recordID)' is of a type that the schema does not have")
    }
    let version = try numbers.take(from: transaction)
    latest = version
    var stored = current
    stored.record.makeAnonymous(user)
    stored.record.recordChangeTag = transaction.context.changeTags.tag(
      ofVersion: version, in: database)
    try write(stored, type: type, version: version, over: current)
    try RecordIndexes(transaction: transaction).update(
      from: current, to: stored, type: type, in: database)
    let record = stored.record
    try post(.recordUpdated, record: record, sequence: version)
  }

  /// Raises the zone's version to the latest change, which was made outside of ``run()``.
  func noteChange(inZone zoneNumber: Int64) {
    transaction.gathered.zoneVersions[Catalog.ZoneKey(database: database, number: zoneNumber)] =
      latest
  }
}
