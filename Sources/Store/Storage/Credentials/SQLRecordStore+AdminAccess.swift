import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore: AdminKeyStore, ConsoleSessionStore {
  public func addAdminKey(_ key: AdminKey) async throws {
    try await write(locking: .reference) { try AdminKeyTable(transaction: $0).add(key) }
  }

  public func adminKeys() async throws -> [AdminKey] {
    try await read { try AdminKeyTable(transaction: $0).keys() }
  }

  public func revokeAdminKey(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> Bool {
    try await write(locking: .reference) { transaction in
      let revoked = try AdminKeyTable(transaction: transaction).revoke(
        keyWithHash: hash, at: timestamp)
      try ConsoleSessionTable(transaction: transaction).endAll(ofKeyWithHash: hash)
      return revoked
    }
  }

  public func addConsoleSession(_ console: ConsoleSession) async throws -> Bool {
    try await write(locking: .reference) { try ConsoleSessionTable(transaction: $0).add(console) }
  }

  public func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)? {
    try await read {
      try ConsoleSessionTable(transaction: $0).consoleSession(withHash: hash, at: timestamp)
    }
  }

  public func endConsoleSession(withHash hash: [UInt8]) async throws {
    try await write(locking: .reference) {
      try ConsoleSessionTable(transaction: $0).end(sessionWithHash: hash)
    }
  }
}
