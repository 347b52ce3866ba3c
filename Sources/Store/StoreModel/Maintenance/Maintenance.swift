import CloudKitModel

/// The work that a store wants done beside its requests, in steps.
public protocol Maintenance: Sendable {
  /// Drops log entries and finished deliveries beyond their retention: by default 30 days or 10,000
  /// entries a user, whichever is less; old changes of the history; tokens that have expired; deletions that
  /// need not be remembered any more; and assets that nobody holds.
  func trim(at timestamp: Timestamp) async throws
  /// Does a small step of the work on one index, in one transaction, and tells how far it is; nil
  /// when there is no work. Any number of processes may call it at the same time.
  func continueIndexWork() async throws -> IndexWork?
  /// Takes the next step of the deletions under way and tells what it was; nil when there are none. Any
  /// number of processes may call it at the same time.
  ///
  /// - Throws: ``StoreError/Code/assetFailed`` when files of assets cannot be removed.
  func continueUserDeletion(at timestamp: Timestamp) async throws -> UserDeletion?
}
