/// The rules that decide which records a caller may read and write.
///
/// The functions are pure: they read no store and no clock. The caller's roles and the record
/// type's grants (``RecordGrants``) are arguments.
///
/// Other code of the server decides which callers may call which web-service operation in which
/// database.
public enum AccessPolicy {
  /// Returns the caller's access to the records of a database, if the caller and the scope alone
  /// decide the access.
  ///
  /// A user has full access in the own private database. A participant of a share reaches records of
  /// another user's private database, where ``refusal(of:as:with:)`` decides. The administrator has
  /// full access in every database.
  ///
  /// - Returns: nil in the public database, except for the administrator: there the grants of the
  ///   record type decide (``access(of:roles:under:)``). Otherwise full access.
  public static func access(of caller: Caller, in scope: DatabaseScope) -> RecordAccess? {
    if case .administrator = caller { return .full }
    switch scope {
    case .public: return nil
    case .private, .shared: return .full
    }
  }

  /// Returns the caller's access to the records of one type in a public database.
  ///
  /// - Parameters:
  ///   - caller: The caller of the request. The administrator has full access.
  ///   - roles: The caller's roles, without `_creator`. ``RecordAccess`` adds that role for each
  ///     record that the caller created.
  public static func access(
    of caller: Caller, roles: Set<String>, under grants: RecordGrants
  ) -> RecordAccess {
    if case .administrator = caller { return .full }
    return RecordAccess(of: caller.userRecordName, roles: roles, under: grants)
  }
}
