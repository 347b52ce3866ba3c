/// The lookups of the users who have accounts. No method changes the store.
public protocol AccountReading: Sendable {
  /// Returns the account with this name; nil if there is none. Names are compared by their bytes.
  func user(named name: String) async throws -> User?
  /// Returns the account with this user record name; nil if there is none.
  func user(withRecordName userRecordName: String) async throws -> User?
  /// Returns all accounts in the order of their names. The result is not limited;
  /// ``AdministrationStore/users(beginningWith:after:limit:)`` returns pages.
  func users() async throws -> [User]
  /// Returns the account names of these users. The keys of the result are the user record names. A
  /// user without an account has no element.
  func userNames(of userRecordNames: Set<String>) async throws -> [String: String]
}
