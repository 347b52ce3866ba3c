import WebServices

extension ServicePath {
  /// Operations that change nothing.
  private static let reads: Set<String> = [
    "records/query", "records/lookup", "records/changes", "records/resolve", "zones/list",
    "zones/lookup", "zones/changes", "changes/zone", "changes/database", "subscriptions/list",
    "subscriptions/lookup", "notifications/changes",
  ]

  /// Whether the operation is known to change nothing.
  var onlyReads: Bool { Self.reads.contains(operation) }

  /// Checks that a server-to-server key may do this: anything in the public database but what is
  /// about a person. Its own subscriptions, and the tokens that deliver them, are the key's.
  ///
  /// - Throws: `ACCESS_DENIED` for the private and shared databases, for `users/…` and for shares.
  func checkServerKeyMayUse() throws(ServiceError) {
    if let scope, scope != .public {
      throw ServiceError(
        .accessDenied,
        "a server-to-server key may use the public database only, not the "
          + "\(scope.pathComponent) one")
    }
    if operation.hasPrefix("users/") || operation == "records/resolve"
      || operation == "records/accept"
    {
      throw ServiceError(
        .accessDenied, "\(operation) needs a signed-in user; a server-to-server key is none")
    }
  }
}
