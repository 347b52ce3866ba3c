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

  /// Replaces a user in the record's stamps by ``UserIdentity/deletedUserRecordName``, and removes
  /// the user's device. The times stay. A stamp is the user, device and time of the creation or of
  /// the last modification.
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
  /// Removes a user's name from a stored change: as the author, in the stamps of the record, and as
  /// the name of the user's own record.
  ///
  /// - Parameters:
  ///   - user: the user's record name.
  ///   - deletes: returns whether the user's deletion also deletes a record. If so, the record's
  ///     values are removed too.
  /// - Returns: whether the change was altered. A name in the values of another user's record
  ///   stays, and does not count.
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

extension ShareAudience {
  /// Removes a deleted user, who learns of nothing any more.
  ///
  /// - Returns: whether the user was in the audience.
  mutating func remove(_ user: String) -> Bool {
    let count = departed.count
    departed.removeAll { $0 == user }
    return departed.count < count
  }
}
