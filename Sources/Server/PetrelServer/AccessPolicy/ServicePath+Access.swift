import WebServices

extension ServicePath {
  /// Operations that change nothing.
  private static let reads: Set<String> = [
    "records/query", "records/lookup", "records/changes", "records/resolve", "zones/list",
    "zones/lookup", "zones/changes", "changes/zone", "changes/database", "subscriptions/list",
    "subscriptions/lookup", "notifications/changes", "users/caller", "users/current",
    "webPush/key", "webhooks/list", "server/limits",
  ]
  /// Operations by which a caller learns who it is.
  private static let introductions: Set<String> = ["users/caller", "users/current"]

  /// Whether the operation is known to change nothing.
  var onlyReads: Bool { Self.reads.contains(operation) }

  /// Checks that a server-to-server key may do this: anything in the public database but what is
  /// about a person. Its own subscriptions, and the tokens that deliver them, are the key's; it may
  /// also ask who it is, as CloudKit JS does before anything else.
  ///
  /// - Throws: `ACCESS_DENIED` for the private and shared databases, for the other `users/…` and for
  ///   shares.
  func checkServerKeyMayUse() throws(ServiceError) {
    if let scope, scope != .public {
      throw ServiceError(
        .accessDenied,
        "a server-to-server key may use the public database only, not the "
          + "\(scope.pathComponent) one")
    }
    let isAboutPeople =
      operation.hasPrefix("users/") || operation == "records/resolve"
      || operation == "records/accept"
    if isAboutPeople, !Self.introductions.contains(operation) {
      throw ServiceError(
        .accessDenied, "\(operation) needs a signed-in user; a server-to-server key is none")
    }
  }
}
