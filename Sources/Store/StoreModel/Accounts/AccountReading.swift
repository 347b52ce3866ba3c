/// Looks up the users who have accounts.
public protocol AccountReading: Sendable {
  func user(named name: String) async throws -> User?
  func user(withRecordName userRecordName: String) async throws -> User?
  func users() async throws -> [User]
  /// The names of the accounts with these user record names; users without an account are absent.
  func userNames(of userRecordNames: Set<String>) async throws -> [String: String]
}
