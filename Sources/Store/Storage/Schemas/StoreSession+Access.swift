import CloudKitModel

extension StoreSession {
  /// What a user may do with the records of a type, by the grants and roles of this transaction.
  ///
  /// Grants hold in the public database. Other databases are their owner's alone.
  ///
  /// - Complexity: O(roles of the user) once type and roles were read.
  func access(
    of userRecordName: String?, toType name: String, at address: DatabaseAddress
  ) throws -> RecordAccess {
    guard address.scope == .public else { return .full }
    // The first record of a type makes it, with the standard grants.
    let grants = try recordType(named: name, at: address)?.grants ?? .standard
    return RecordAccess(
      of: userRecordName, roles: try roles(of: userRecordName, at: address), under: grants)
  }

  /// Where the value index has the records of a type that a user made; nil where it has no creators, or
  /// not all yet.
  func indexOfRecords(
    madeBy userRecordName: String?, type: RecordTypeEntry, at address: DatabaseAddress
  ) -> IndexStretch? {
    // Where nearly everything is made by the owner, creators are not indexed.
    guard let userRecordName, address.owner == nil,
      let field = type.field(for: .system(.createdUserRecordName)), field.indexes.usesValues,
      field.indexWork == nil
    else { return nil }
    let key = ValueKey.key(of: userRecordName)
    // A key of that length may be another user's too.
    guard key.count < ValueKey.textLimit else { return nil }
    return IndexStretch(field: field.number, range: KeyRange(key))
  }
}
