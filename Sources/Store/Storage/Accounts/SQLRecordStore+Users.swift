import CloudKitModel
import StoreModel

extension SQLRecordStore: AccountStore {
  public func addUser(
    named name: String, profile: UserProfile, at timestamp: Timestamp
  ) async throws -> User {
    try await write(locking: .reference) {
      try UserTable(transaction: $0).add(named: name, profile: profile, at: timestamp)
    }
  }

  public func user(named name: String) async throws -> User? {
    try await read { try UserTable(transaction: $0).user(named: name) }
  }

  public func user(withRecordName userRecordName: String) async throws -> User? {
    try await read { try UserTable(transaction: $0).user(withRecordName: userRecordName) }
  }

  public func users() async throws -> [User] {
    try await read { try UserTable(transaction: $0).users() }
  }
}
