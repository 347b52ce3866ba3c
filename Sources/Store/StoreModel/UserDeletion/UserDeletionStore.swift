import CloudKitModel

/// The deletions of users. ``Maintenance/continueUserDeletion(at:)`` carries them out.
public protocol UserDeletionStore: Sendable {
  /// Begins to delete a user. From then on the user cannot sign in and has no tokens, devices or
  /// roles. Requests of the user that are under way fail with ``StoreError/Code/userDeleted``. The
  /// account's name cannot be reused until the account is gone. Beginning again does not change a
  /// deletion under way.
  ///
  /// - Parameter name: the account's name.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such user.
  func beginUserDeletion(
    named name: String, publicRecords: UserDeletion.PublicRecords, at timestamp: Timestamp
  ) async throws -> UserDeletion
  /// Returns the deletions that are under way, in the order in which they began.
  func userDeletions() async throws -> [UserDeletion]
}
