import CloudKitModel
import StoreModel

extension RecordAccess {
  /// What a user may do with the records of a type, by the grants and roles of this transaction.
  ///
  /// Grants hold in the public database. Other databases are their owner's alone.
  ///
  /// - Complexity: O(roles of the user) once type and roles were read.
  init(
    of userRecordName: String?, toType name: String, at address: DatabaseAddress,
    in transaction: StoreTransaction
  ) throws {
    guard address.scope == .public else {
      self = .full
      return
    }
    // The first record of a type makes it, with the standard grants.
    let grants =
      try RecordTypeTable(transaction: transaction).type(named: name, at: address)?.grants
      ?? .standard
    let roles = try RoleTable(transaction: transaction).roles(of: userRecordName, at: address)
    self.init(of: userRecordName, roles: roles, under: grants)
  }
}
