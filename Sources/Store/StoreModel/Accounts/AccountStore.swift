import CloudKitModel

/// The accounts of users.
public protocol AccountStore: AccountReading {
  /// Creates an account. Throws ``StoreError/Code/exists`` if another user has the name, the e-mail
  /// address or the phone number.
  func addUser(
    named name: String, profile: UserProfile, at timestamp: Timestamp
  ) async throws -> User
}

extension AccountStore {
  /// Creates an account with an empty profile.
  public func addUser(named name: String, at timestamp: Timestamp) async throws -> User {
    try await addUser(named: name, profile: UserProfile(), at: timestamp)
  }
}
