import CloudKitModel
import StoreModel

extension AccountService {
  /// Replaces a user's password and ends the user's sessions in web apps, in one transaction.
  ///
  /// Tokens of native clients stay valid.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if no user has this name, and
  ///   ``StoreError/Code/userDeleted`` if the user is being deleted.
  func setPasswordHash(
    _ hash: String, ofUserNamed name: String, at timestamp: Timestamp
  ) async throws {
    try await transactions.writeDevices { transaction, orders in
      let users = UserTable(transaction: transaction)
      if let user = try users.user(named: name) {
        try UserDeletionTable(transaction: transaction).refuseDeleted(user.userRecordName)
      }
      let isSet = try PasswordTable(transaction: transaction)
        .setHash(hash, ofUserNamed: name, at: timestamp)
      guard isSet, let user = try users.user(named: name) else {
        throw StoreError.noUser(named: name)
      }
      _ = try WebAuthTokenTable(transaction: transaction)
        .endSessions(
          of: user.userRecordName, everywhere: false, at: timestamp, ordering: &orders)
    }
  }

  /// Returns the hash of a user's password; nil if there is no such user, or the user has no
  /// password.
  func passwordHash(ofUserNamed name: String) async throws -> String? {
    try await transactions.read { try PasswordTable(transaction: $0).hash(ofUserNamed: name) }
  }

  /// Returns the user to whom an OpenID Connect identity belongs. The first sign-in with an
  /// identity creates the user.
  ///
  /// A sign-in of a known user needs one read. A write follows if the read found no user, or a user
  /// who is being deleted. The write searches for the user again, because two sign-ins can run at
  /// the same moment.
  ///
  /// - Parameter name: the name for a new account. If another user has this name, the account gets
  ///   another one; see ``UserTable/add(proposing:profile:at:)``.
  /// - Throws: ``StoreError/Code/userDeleted`` if the identity belongs to a user who is being
  ///   deleted or was deleted recently.
  func user(
    boundTo identity: IssuedIdentity, proposing name: String, profile: UserProfile,
    at timestamp: Timestamp
  ) async throws -> User {
    if let known = try await transactions.read({
      try UserTable(transaction: $0).user(boundTo: identity)
    }),
      !known.isBeingDeleted
    {
      return known
    }
    return try await transactions.write(locking: .reference) { transaction in
      let users = UserTable(transaction: transaction)
      // A concurrent sign-in of the same person may have created the user.
      if let known = try users.user(boundTo: identity) {
        try UserDeletionTable(transaction: transaction).refuseDeleted(known.userRecordName)
        return known
      }
      let user = try users.add(proposing: name, profile: profile, at: timestamp)
      try UserIdentityTable(transaction: transaction).bind(identity, to: user, at: timestamp)
      return user
    }
  }
}
