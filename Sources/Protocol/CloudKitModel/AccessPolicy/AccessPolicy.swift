/// The rules that decide which records a caller may read and write.
///
/// The functions are pure: they read no store and no clock. The caller's roles and the grants of
/// the record type come in as arguments.
///
/// The server adds the rules of operations: which callers may call which operation in which
/// database.
public enum AccessPolicy {
  /// Returns the access to records where the database's scope alone decides.
  ///
  /// A request reaches no private database but the caller's own, so the caller may do everything in
  /// a private database. The same holds for the administrator in each database.
  ///
  /// - Returns: Full access, or nil in a public database. There the grants of the record type
  ///   decide (``access(of:roles:under:)``).
  public static func access(of caller: Caller, in scope: DatabaseScope) -> RecordAccess? {
    if case .administrator = caller { return .full }
    switch scope {
    case .public: return nil
    case .private, .shared: return .full
    }
  }

  /// Returns the access to the records of one type in a public database.
  ///
  /// - Parameters:
  ///   - caller: The caller of the request. The administrator has full access.
  ///   - roles: The caller's roles, without `_creator`. ``RecordAccess`` adds that role for each
  ///     record that the caller created.
  ///   - grants: The grants of the record type.
  public static func access(
    of caller: Caller, roles: Set<String>, under grants: RecordGrants
  ) -> RecordAccess {
    if case .administrator = caller { return .full }
    return RecordAccess(of: caller.userRecordName, roles: roles, under: grants)
  }
}
