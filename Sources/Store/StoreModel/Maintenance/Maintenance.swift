import CloudKitModel

/// The background work of a store, in steps.
public protocol Maintenance: Sendable {
  /// Deletes what has passed its retention: log entries and finished deliveries (by default after
  /// 30 days or 10,000 entries a user, whichever is less), old changes of the history, expired
  /// tokens, old tombstones, and assets that no record holds.
  func trim(at timestamp: Timestamp) async throws
  /// Does a small step of the work on one index, in one transaction, and returns the index's
  /// progress; nil if there is no work. Several processes may call it at the same time.
  func continueIndexWork() async throws -> IndexWork?
  /// Takes the next step of the user deletions under way and returns its state; nil if there are
  /// none. Several processes may call it at the same time.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` if files of assets cannot be removed.
  func continueUserDeletion(at timestamp: Timestamp) async throws -> UserDeletion?
}
