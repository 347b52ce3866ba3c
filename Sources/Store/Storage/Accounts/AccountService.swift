import CloudKitModel
import StoreModel

/// The accounts of users: sign-in, sessions and discovery.
///
/// Each method is one transaction, or one read that a write may follow. The methods combine
/// ``UserTable``, ``PasswordTable``, ``UserIdentityTable``, ``WebAuthTokenTable`` and
/// ``ApplicationPermissionTable``. The rows of these tables belong to no database, so writes take
/// the reference lock: the lock of all data outside of databases (``WriteLocks``).
struct AccountService: AccountStore, SignInStore, SessionStore, DiscoveryStore {
  let transactions: Transactions

  /// Creates an account with the given name.
  ///
  /// - Throws: ``StoreError/Code/exists`` if another user has the name, the e-mail address or the
  ///   phone number already.
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

  /// Returns the account with this user record name; nil if there is none. A user record name is
  /// `_` and 32 hexadecimal digits.
  func user(withRecordName userRecordName: String) async throws -> User? {
    try await transactions.read {
      try UserTable(transaction: $0).user(withRecordName: userRecordName)
    }
  }

  /// Returns all accounts in the order of their names. The result is not limited.
  func users() async throws -> [User] {
    try await transactions.read { try UserTable(transaction: $0).users() }
  }

  /// Returns the account names for user record names. The method runs one statement for each user
  /// record name. A user record name without an account has no element.
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
