import CloudKitModel
import StoreModel

extension RecordAccess {
  /// A user's access to the records of a type, by the grants and roles in this transaction.
  ///
  /// Grants apply in the public database. Other databases belong to their owner alone.
  ///
  /// - Complexity: O(roles of the user) once type and roles are cached.
  init(
    of userRecordName: String?, toType name: String, at address: DatabaseAddress,
    in transaction: StoreTransaction
  ) throws {
    guard address.scope == .public else {
      self = .full
      return
    }
    // Saving the first record of a type creates it, with the standard grants.
    let grants =
      try RecordTypeTable(transaction: transaction).type(named: name, at: address)?.grants
      ?? .standard
    let roles = try RoleTable(transaction: transaction).roles(of: userRecordName, at: address)
    self.init(of: userRecordName, roles: roles, under: grants)
  }
}
