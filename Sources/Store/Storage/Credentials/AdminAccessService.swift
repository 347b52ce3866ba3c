import CloudKitModel
import SQLEngine
import StoreModel

/// The keys of administrators and their sessions in the console. The store has the SHA-256 hashes
/// of keys and cookies alone.
struct AdminAccessService: AdminKeyStore, ConsoleSessionStore {
  let transactions: Transactions

  /// Stores a key that an administrator created.
  func addAdminKey(_ key: AdminKey) async throws {
    try await transactions.write(locking: .reference) {
      try AdminKeyTable(transaction: $0).add(key)
    }
  }

  /// Returns all keys, revoked ones included, in the order of their creation.
  func adminKeys() async throws -> [AdminKey] {
    try await transactions.read { try AdminKeyTable(transaction: $0).keys() }
  }

  /// Revokes a key and ends its sessions, in one transaction.
  ///
  /// - Returns: false if there is no valid key with this hash. Sessions of the key are ended all
  ///   the same.
  func revokeAdminKey(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> Bool {
    try await transactions.write(locking: .reference) { transaction in
      let revoked = try AdminKeyTable(transaction: transaction).revoke(
        keyWithHash: hash, at: timestamp)
      try ConsoleSessionTable(transaction: transaction).endAll(ofKeyWithHash: hash)
      return revoked
    }
  }

  /// Stores a session that began with a valid key; false if the key is revoked or unknown.
  func addConsoleSession(_ console: ConsoleSession) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try ConsoleSessionTable(transaction: $0).add(console)
    }
  }

  /// Returns a session that has not expired, with its valid key; nil otherwise.
  func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)? {
    try await transactions.read {
      try ConsoleSessionTable(transaction: $0).consoleSession(withHash: hash, at: timestamp)
    }
  }

  /// Ends a session. An unknown hash is no error.
  func endConsoleSession(withHash hash: [UInt8]) async throws {
    try await transactions.write(locking: .reference) {
      try ConsoleSessionTable(transaction: $0).end(sessionWithHash: hash)
    }
  }
}
