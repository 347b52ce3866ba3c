import CloudKitModel

/// The sessions of administrators in the console.
public protocol ConsoleSessionStore: Sendable {
  /// Begins a session. Returns false, and begins none, if its key is unknown or revoked.
  ///
  /// A key has at most ``ConsoleSession/limit`` sessions: one more ends the session that would
  /// expire first.
  func addConsoleSession(_ session: ConsoleSession) async throws -> Bool
  /// Returns the session with this hash and its key; nil if it has expired, if it does not exist,
  /// or if its key is revoked.
  func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)?
  /// Ends a session. An unknown hash is no error.
  func endConsoleSession(withHash hash: [UInt8]) async throws
}
