import CloudKitModel

/// What those who run the server do with a store, beyond what the server itself needs.
public protocol AdministrationStore: Sendable {
  // MARK: Access

  func addAdminKey(_ key: AdminKey) async throws
  /// Every key, those that are revoked too, oldest first.
  func adminKeys() async throws -> [AdminKey]
  /// Refuses a key from now on and ends the sessions that began with it; false when there is none
  /// with this hash or it is revoked already.
  func revokeAdminKey(withHash hash: [UInt8], at timestamp: Timestamp) async throws -> Bool
  /// Begins a session; false when its key is not known or revoked.
  ///
  /// A key has ``ConsoleSession/limit`` sessions at most: the one that ends first makes room.
  func addConsoleSession(_ session: ConsoleSession) async throws -> Bool
  /// A session that has not expired, with its key.
  func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)?
  func endConsoleSession(withHash hash: [UInt8]) async throws
}

extension ConsoleSession {
  /// Sessions of one key.
  public static let limit = 100
}
