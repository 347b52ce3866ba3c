import CloudKitModel

/// The deletions of users. ``Maintenance/continueUserDeletion(at:)`` carries them out.
public protocol UserDeletionStore: Sendable {
  /// Begins to delete a user. From then on the user cannot sign in, and has no tokens, devices or
  /// roles. Writes of requests that are under way fail with ``StoreError/Code/userDeleted``. Until
  /// the account is deleted, no other account can have its name. If a deletion of the user is under
  /// way, the method returns it unchanged.
  ///
  /// - Parameters:
  ///   - name: the account's name.
  ///   - publicRecords: the decision about the user's records in public databases.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such user.
  func beginUserDeletion(
    named name: String, publicRecords: UserDeletion.PublicRecords, at timestamp: Timestamp
  ) async throws -> UserDeletion
  /// Returns the deletions that are under way, in the order in which they began.
  func userDeletions() async throws -> [UserDeletion]
}
