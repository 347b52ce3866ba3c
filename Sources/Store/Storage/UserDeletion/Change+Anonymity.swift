import CloudKitModel
import StoreModel

extension Record {
  func hasStamp(of user: String) -> Bool {
    created?.userRecordName == user || modified?.userRecordName == user
  }

  func isUserRecord(of user: String) -> Bool {
    recordType == "Users" && recordID.recordName == user
  }

  /// Puts ``UserIdentity/deletedUserRecordName`` in the stamps of the creation and the last
  /// modification, and removes the user's device. The times stay.
  mutating func makeAnonymous(_ user: String) {
    created?.makeAnonymous(user)
    modified?.makeAnonymous(user)
  }
}

extension Record.Stamp {
  fileprivate mutating func makeAnonymous(_ user: String) {
    guard userRecordName == user else { return }
    userRecordName = UserIdentity.deletedUserRecordName
    deviceID = nil
  }
}

extension Change {
  /// Removes the user as the author, from the record's stamps, and from the name of the user's own
  /// record. Returns whether the change was altered.
  ///
  /// A name in the values of another user's record stays, and does not count.
  ///
  /// - Parameter deletes: whether the user's deletion also deletes a record, whose values are then
  ///   removed too.
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
  mutating func remove(_ user: String) -> Bool {
    let count = departed.count
    departed.removeAll { $0 == user }
    return departed.count < count
  }
}
