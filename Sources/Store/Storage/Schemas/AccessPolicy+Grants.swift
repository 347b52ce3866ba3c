import CloudKitModel
import StoreModel

extension AccessPolicy {
  /// The rights of a caller for the records of a type, by the grants of the type and the roles of
  /// the caller.
  ///
  /// For a type that the schema does not have yet, the standard grants decide: saving its first
  /// record creates it with these.
  ///
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
