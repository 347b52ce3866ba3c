import CloudKitModel
import StoreModel

/// The accounts of users: sign-in, sessions and discovery.
struct AccountService: AccountStore, SignInStore, SessionStore, DiscoveryStore {
  let transactions: Transactions

  func addUser(
    named name: String, profile: UserProfile, at timestamp: Timestamp
  ) async throws -> User {
    try await transactions.write(locking: .reference) {
      try UserTable(transaction: $0).add(named: name, profile: profile, at: timestamp)
    }
  }

  func user(named name: String) async throws -> User? {
    try await transactions.read { try UserTable(transaction: $0).user(named: name) }
  }

  func user(withRecordName userRecordName: String) async throws -> User? {
    try await transactions.read {
      try UserTable(transaction: $0).user(withRecordName: userRecordName)
    }
  }

  func users() async throws -> [User] {
    try await transactions.read { try UserTable(transaction: $0).users() }
  }

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
