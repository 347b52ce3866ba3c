import CloudKitModel
import StoreModel

extension AccountService {
  /// Replaces the hash of a user's password, and ends the user's sessions in web apps, in one
  /// transaction.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no user of this name;
  ///   ``StoreError/Code/userDeleted`` if the user is being deleted.
  public func setPasswordHash(
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

  /// Returns the hash of a user's password; nil also if there is no such user.
  public func passwordHash(ofUserNamed name: String) async throws -> String? {
    try await transactions.read { try PasswordTable(transaction: $0).hash(ofUserNamed: name) }
  }

  /// Returns the user with this identity at an issuer. The first call with an identity creates the
  /// user.
  ///
  /// If another user has the profile's e-mail address or phone number, the new account has none:
  /// two people with one address never get the same account. If another user has the proposed name,
  /// the new account's name is its user record name.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the identity belongs to a user who is being
  ///   deleted or was deleted recently.
  public func user(
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
