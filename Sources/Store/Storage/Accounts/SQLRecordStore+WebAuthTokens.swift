import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore: SessionStore {
  public func addWebAuthToken(_ token: WebAuthToken) async throws {
    try await write(locking: .reference) { try WebAuthTokenTable(transaction: $0).add(token) }
  }

  public func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken? {
    try await read { try WebAuthTokenTable(transaction: $0).token(withHash: hash) }
  }

  public func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool {
    try await write(locking: .reference) {
      try WebAuthTokenTable(transaction: $0)
        .rotate(tokenWithHash: hash, successor: successor, olderExpire: olderExpire)
    }
  }

  public func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int {
    try await writeDevices {
      try WebAuthTokenTable(transaction: $0)
        .endSessions(of: userRecordName, everywhere: everywhere, at: timestamp, ordering: &$1)
    }
  }
}
