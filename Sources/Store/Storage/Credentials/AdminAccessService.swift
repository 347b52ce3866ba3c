import CloudKitModel
import StoreModel

/// The keys of administrators, and their sessions in the browser console. The store has only the
/// SHA-256 hashes of keys and of the browsers' cookies.
public struct AdminAccessService: Sendable {
  let transactions: Transactions

  /// Stores a key, which is valid from then on.
  public func addAdminKey(_ key: AdminKey) async throws {
    try await transactions.write(locking: .reference) {
      try AdminKeyTable(transaction: $0).add(key)
    }
  }

  /// Returns all keys, revoked ones too, oldest first.
  public func adminKeys() async throws -> [AdminKey] {
    try await transactions.read { try AdminKeyTable(transaction: $0).keys() }
  }

  /// Revokes a key, and ends the console sessions that began with it. Returns false if no key has
  /// this hash or it is already revoked.
  public func revokeAdminKey(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> Bool {
    try await transactions.write(locking: .reference) { transaction in
      let revoked = try AdminKeyTable(transaction: transaction).revoke(
        keyWithHash: hash, at: timestamp)
      try ConsoleSessionTable(transaction: transaction).endAll(ofKeyWithHash: hash)
      return revoked
    }
  }

  /// Begins a session. Returns false, and stores nothing, if the session's key is unknown or
  /// revoked. Beyond ``ConsoleSession/limit`` sessions, the key's session that expires first ends.
  public func addConsoleSession(_ console: ConsoleSession) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try ConsoleSessionTable(transaction: $0).add(console)
    }
  }

  /// Returns nil if there is no such session, it has expired, or its key is revoked.
  public func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)? {
    try await transactions.read {
      try ConsoleSessionTable(transaction: $0).consoleSession(withHash: hash, at: timestamp)
    }
  }

  /// Ends a session. An unknown hash is no error.
  public func endConsoleSession(withHash hash: [UInt8]) async throws {
    try await transactions.write(locking: .reference) {
      try ConsoleSessionTable(transaction: $0).end(sessionWithHash: hash)
    }
  }
}
