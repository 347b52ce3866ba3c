import CloudKitModel

/// The sessions of administrators in the console.
public protocol ConsoleSessionStore: Sendable {
  /// Begins a session. Returns false, and stores nothing, if the session's key is unknown or
  /// revoked.
  ///
  /// A key has at most ``ConsoleSession/limit`` sessions. A further one ends the key's session that
  /// would expire first.
  func addConsoleSession(_ session: ConsoleSession) async throws -> Bool
  /// Returns the session with this hash, and the session's key. The result is nil if there is no
  /// such session, if the session has expired, or if the key is revoked.
  func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)?
  /// Ends a session. An unknown hash is no error.
  func endConsoleSession(withHash hash: [UInt8]) async throws
}
