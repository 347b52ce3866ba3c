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
}
