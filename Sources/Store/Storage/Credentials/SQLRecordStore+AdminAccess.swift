import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func addAdminKey(_ key: AdminKey) async throws {
    try await write(locking: .reference) { try AdminKeyTable(session: $0).add(key) }
  }

  public func adminKeys() async throws -> [AdminKey] {
    try await read { try AdminKeyTable(session: $0).keys() }
  }

  public func revokeAdminKey(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> Bool {
    try await write(locking: .reference) { session in
      let revoked = try AdminKeyTable(session: session).revoke(keyWithHash: hash, at: timestamp)
      try ConsoleSessionTable(session: session).endAll(ofKeyWithHash: hash)
      return revoked
    }
  }

  public func addConsoleSession(_ console: ConsoleSession) async throws -> Bool {
    try await write(locking: .reference) { try ConsoleSessionTable(session: $0).add(console) }
  }

  public func consoleSession(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> (session: ConsoleSession, key: AdminKey)? {
    try await read {
      try ConsoleSessionTable(session: $0).consoleSession(withHash: hash, at: timestamp)
    }
  }

  public func endConsoleSession(withHash hash: [UInt8]) async throws {
    try await write(locking: .reference) {
      try ConsoleSessionTable(session: $0).end(sessionWithHash: hash)
    }
  }
}
