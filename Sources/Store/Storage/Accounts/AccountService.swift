import CloudKitModel
import StoreModel

/// The accounts of users: passwords, identities at OpenID Connect issuers, web auth tokens, and the
/// permissions that users grant to apps.
///
/// An app can discover only a user who has granted this permission. The rows belong to no database,
/// so writes take the reference lock (``WriteLocks``).
public struct AccountService: Sendable {
  let transactions: Transactions

  /// Creates an account. Throws ``StoreError/Code/exists`` if another user has the name, the e-mail
  /// address or the phone number.
  public func addUser(
    named name: String, profile: UserProfile = UserProfile(), at timestamp: Timestamp
  ) async throws -> User {
    try await transactions.write(locking: .reference) {
      try UserTable(transaction: $0).add(named: name, profile: profile, at: timestamp)
    }
  }

  /// Returns the account with this name. Names are compared by their bytes.
  public func user(named name: String) async throws -> User? {
    try await transactions.read { try UserTable(transaction: $0).user(named: name) }
  }

  /// Returns the account with this user record name.
  public func user(withRecordName userRecordName: String) async throws -> User? {
    try await transactions.read {
      try UserTable(transaction: $0).user(withRecordName: userRecordName)
    }
  }

  /// Returns all accounts in the order of their names. The result is not limited;
  /// ``AdministrationService/users(beginningWith:after:limit:)`` returns pages.
  public func users() async throws -> [User] {
    try await transactions.read { try UserTable(transaction: $0).users() }
  }

  /// Returns account names by user record name. A user without an account has no element.
  public func userNames(of userRecordNames: Set<String>) async throws -> [String: String] {
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
