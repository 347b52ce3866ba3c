import CloudKitModel

/// The sessions of the console.
public protocol ConsoleSessionStore: Sendable {
  /// Begins a session; false if its key is unknown or revoked.
  ///
  /// A key has at most ``ConsoleSession/limit`` sessions: one more ends the session that would
  /// expire first.
  func addConsoleSession(_ session: ConsoleSession) async throws -> Bool
  /// The session with this hash and its key, unless it has expired.
  func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)?
  func endConsoleSession(withHash hash: [UInt8]) async throws
}
