import CloudKitModel
import StoreModel

/// The accounts of users: sign-in, sessions and discovery.
///
/// Each method is one transaction, or a read followed by one. The methods combine ``UserTable``,
/// ``PasswordTable``, ``UserIdentityTable``, ``WebAuthTokenTable`` and
/// ``ApplicationPermissionTable``. All these tables are outside of databases, so writes take the
/// reference lock (``WriteLocks``).
struct AccountService: AccountStore, SignInStore, SessionStore, DiscoveryStore {
  let transactions: Transactions

  /// Creates an account with a name that a person chose.
  ///
  /// - Throws: ``StoreError/Code/exists`` if another user has the name, the e-mail address or the
  ///   phone number.
  func addUser(
    named name: String, profile: UserProfile, at timestamp: Timestamp
  ) async throws -> User {
    try await transactions.write(locking: .reference) {
      try UserTable(transaction: $0).add(named: name, profile: profile, at: timestamp)
    }
  }

  /// Returns the account with this name; nil if there is none. Names are compared by their bytes.
  func user(named name: String) async throws -> User? {
    try await transactions.read { try UserTable(transaction: $0).user(named: name) }
  }

  /// Returns the account with this user record name, such as `_0123…` with 32 hexadecimal digits;
  /// nil if there is none.
  func user(withRecordName userRecordName: String) async throws -> User? {
    try await transactions.read {
      try UserTable(transaction: $0).user(withRecordName: userRecordName)
    }
  }

  /// Returns all accounts in the order of their names. The result is not limited.
  func users() async throws -> [User] {
    try await transactions.read { try UserTable(transaction: $0).users() }
  }

  /// Returns the account names for user record names, with one statement for each. A user without
  /// an account has no element.
  func userNames(of userRecordNames: Set<String>) async throws -> [String: String] {
    try await transactions.read { transaction in
      let users = UserTable(transaction: transaction)
      var names: [String: String] = [:]
      for userRecordName in userRecordNames {
        names[userRecordName] = try users.name(of: userRecordName)
      }
      return names
    }
  }
}
