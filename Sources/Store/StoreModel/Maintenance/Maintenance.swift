import CloudKitModel

/// The background work of a store: deletions of old data, and work on indexes. A server calls the
/// methods from time to time.
public protocol Maintenance: Sendable {
  /// Deletes rows and files that the store no longer keeps:
  ///
  /// - entries of the notification log beyond ``NotificationLogLimits``: by default after 30 days,
  ///   and above 10,000 entries or 64 MiB of a user; the deliveries of these entries too,
  /// - deliveries with a final outcome after 30 days, or later if log entries are kept longer,
  /// - changes of the history beyond ``ChangeHistoryLimits``,
  /// - expired tokens and sessions, and old tombstones: the rows that record deletions,
  /// - files of assets that no record holds and no receipt names (``AssetRegistry``).
  ///
  /// - Parameter timestamp: the present time.
  func trim(at timestamp: Timestamp) async throws
  /// Does a small step of the work on one index (``IndexWork``), in one transaction.
  ///
  /// Several processes may call the method at the same time.
  ///
  /// - Returns: the index's progress; nil if there is no work.
  func continueIndexWork() async throws -> IndexWork?
  /// Does the next step of the user deletions under way (``UserDeletion``). Several processes may
  /// call the method at the same time.
  ///
  /// - Returns: the deletion after the step; nil if no deletion is under way.
  /// - Throws: ``StoreError/Code/assetFailed`` if files of assets cannot be removed.
  func continueUserDeletion(at timestamp: Timestamp) async throws -> UserDeletion?
}
