import CloudKitModel

/// The sessions of the console.
public protocol ConsoleSessionStore: Sendable {
  /// Begins a session; false when its key is not known or revoked.
  ///
  /// A key has ``ConsoleSession/limit`` sessions at most: beyond that, the one that ends first goes.
  func addConsoleSession(_ session: ConsoleSession) async throws -> Bool
  /// A session that has not expired, with its key.
  func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)?
  func endConsoleSession(withHash hash: [UInt8]) async throws
}
