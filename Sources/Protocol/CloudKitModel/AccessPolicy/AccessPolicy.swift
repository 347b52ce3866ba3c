/// Decides what a caller may do. It asks nobody: what it needs to know comes in as values.
///
/// The server adds who may call which operation.
public enum AccessPolicy {
  /// The access to records that the database's scope alone decides.
  ///
  /// A request reaches no private database but the caller's own, and everything in it is the owner's.
  ///
  /// - Returns: nil in a public database, where the grants of the record types decide
  ///   (``access(of:roles:under:)``).
  public static func access(of caller: Caller, in scope: DatabaseScope) -> RecordAccess? {
    if case .administrator = caller { return .full }
    switch scope {
    case .public: return nil
    case .private, .shared: return .full
    }
  }

  /// The access to the records of a type in a public database.
  ///
  /// - Parameters:
  ///   - roles: the caller's, without `_creator`.
  ///   - grants: those of the record type.
  public static func access(
    of caller: Caller, roles: Set<String>, under grants: RecordGrants
  ) -> RecordAccess {
    if case .administrator = caller { return .full }
    return RecordAccess(of: caller.userRecordName, roles: roles, under: grants)
  }
}
