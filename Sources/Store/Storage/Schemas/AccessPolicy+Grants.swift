import CloudKitModel
import StoreModel

extension AccessPolicy {
  /// Returns the rights of a caller for the records of a type. The grants of the type and the roles
  /// of the caller decide, as the transaction sees them.
  ///
  /// For a type that the schema does not have yet, the standard grants decide: saving the first
  /// record of the type creates the type with these grants.
  ///
  /// - Parameters:
  ///   - caller: the user or administrator, or the anonymous caller.
  ///   - name: the name of the record type.
  ///   - address: the address of the database.
  /// - Complexity: O(*r*) for *r* roles of the user, once type and roles are cached.
  static func access(
    of caller: Caller, toType name: String, at address: DatabaseAddress,
    in transaction: StoreTransaction
  ) throws -> RecordAccess {
    if let access = access(of: caller, in: address.scope) { return access }
    let grants =
      try RecordTypeTable(transaction: transaction).type(named: name, at: address)?.grants
      ?? .standard
    let roles = try RoleTable(transaction: transaction).roles(
      of: caller.userRecordName, at: address)
    return access(of: caller, roles: roles, under: grants)
  }
}
