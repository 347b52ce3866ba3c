import CloudKitModel
import SQLEngine
import StoreModel

/// The keys of administrators and their sessions in the console.
struct AdminAccessService: AdminKeyStore, ConsoleSessionStore {
  let transactions: Transactions

  func addAdminKey(_ key: AdminKey) async throws {
    try await transactions.write(locking: .reference) {
      try AdminKeyTable(transaction: $0).add(key)
    }
  }

  func adminKeys() async throws -> [AdminKey] {
    try await transactions.read { try AdminKeyTable(transaction: $0).keys() }
  }

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

  func addConsoleSession(_ console: ConsoleSession) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try ConsoleSessionTable(transaction: $0).add(console)
    }
  }

  func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)? {
    try await transactions.read {
      try ConsoleSessionTable(transaction: $0).consoleSession(withHash: hash, at: timestamp)
    }
  }

  func endConsoleSession(withHash hash: [UInt8]) async throws {
    try await transactions.write(locking: .reference) {
      try ConsoleSessionTable(transaction: $0).end(sessionWithHash: hash)
    }
  }
}
