import CloudKitModel

/// The background work of a store, in steps.
public protocol Maintenance: Sendable {
  /// Deletes contents that are no longer to be kept:
  ///
  /// - log entries beyond ``NotificationLogLimits``: by default after 30 days, and above 10,000
  ///   entries or 64 MiB of a user,
  /// - finished deliveries after 30 days, or later if their log entries are kept longer,
  /// - old changes of the history,
  /// - expired tokens and old tombstones,
  /// - assets that no record holds.
  func trim(at timestamp: Timestamp) async throws
  /// Does a small step of the work on one index, in one transaction.
  ///
  /// Several processes may call it at the same time.
  ///
  /// - Returns: the index's progress; nil if there is no work.
  func continueIndexWork() async throws -> IndexWork?
  /// Takes the next step of the user deletions under way. Several processes may call it at the same
  /// time.
  ///
  /// - Returns: the state of the deletion; nil if there are none.
  /// - Throws: ``StoreError/Code/assetFailed`` if files of assets cannot be removed.
  func continueUserDeletion(at timestamp: Timestamp) async throws -> UserDeletion?
}
