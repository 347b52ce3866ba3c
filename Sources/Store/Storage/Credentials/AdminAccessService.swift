import CloudKitModel
import SQLEngine
import StoreModel

/// The keys of administrators, and their sessions in the browser console. The store has only the
/// SHA-256 hashes of keys and of the browsers' cookies.
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

  /// Revokes a key and ends the sessions that began with it, in one transaction.
  ///
  /// - Returns: false if there is no key with this hash, or it is already revoked. The sessions of
  ///   the key end in this case too.
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

  /// Stores a new session. Returns false, without storing the session, if its key is revoked or
  /// unknown.
  func addConsoleSession(_ console: ConsoleSession) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try ConsoleSessionTable(transaction: $0).add(console)
    }
  }

  /// Returns the session with this hash, and its key; nil if there is no such session, the session
  /// has expired, or the key is revoked.
  func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)? {
    try await transactions.read {
      try ConsoleSessionTable(transaction: $0).consoleSession(withHash: hash, at: timestamp)
    }
  }

  /// Ends a session. The method does nothing if there is no session with this hash.
  func endConsoleSession(withHash hash: [UInt8]) async throws {
    try await transactions.write(locking: .reference) {
      try ConsoleSessionTable(transaction: $0).end(sessionWithHash: hash)
    }
  }
}
