import CloudKitModel
import StoreModel

extension AccessPolicy {
  /// Returns a caller's access to the records of a type, by the grants and roles in this
  /// transaction.
  ///
  /// A type that the schema does not have yet gets the standard grants, because saving its first
  /// record creates it with these.
  ///
  /// - Parameters:
  ///   - caller: the user or administrator, or the anonymous caller.
  ///   - name: the name of the record type.
  ///   - address: the address of the database.
  /// - Complexity: O(roles of the user) once type and roles are cached.
  static func access(
    of caller: Caller, toType name: String, at address: DatabaseAddress,
    in transaction: StoreTransaction
  ) throws -> RecordAccess {
    if let access = access(of: caller, in: address.scope) { return access }
    // Saving the first record of a type creates it, with the standard grants.
    let grants =
      try RecordTypeTable(transaction: transaction).type(named: name, at: address)?.grants
      ?? .standard
    let roles = try RoleTable(transaction: transaction).roles(
      of: caller.userRecordName, at: address)
    return access(of: caller, roles: roles, under: grants)
  }
}
