import CloudKitModel

/// Begins and lists deletions of users. ``Maintenance/continueUserDeletion(at:)`` carries them out.
public protocol UserDeletionStore: Sendable {
  /// Begins to delete a user. From then on the user can't sign in, has no tokens, devices and roles, and
  /// whatever was under way for the user fails as ``StoreError/Code/userDeleted``. The name of the account
  /// can't be used again until it is gone. A deletion that has begun goes on as it was begun.
  ///
  /// - Parameter name: the account's.
  /// - Throws: ``StoreError/Code/notFound`` when there is no such user.
  func beginUserDeletion(
    named name: String, publicRecords: UserDeletion.PublicRecords, at timestamp: Timestamp
  ) async throws -> UserDeletion
  /// The deletions that are under way, in the order in which they began.
  func userDeletions() async throws -> [UserDeletion]
}
