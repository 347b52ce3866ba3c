import CloudKitModel
import SQLEngine
import StoreModel

extension AccountService {
  func addWebAuthToken(_ token: WebAuthToken) async throws {
    try await transactions.write(locking: .reference) {
      try WebAuthTokenTable(transaction: $0).add(token)
    }
  }

  func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken? {
    try await transactions.read { try WebAuthTokenTable(transaction: $0).token(withHash: hash) }
  }

  func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try WebAuthTokenTable(transaction: $0)
        .rotate(tokenWithHash: hash, successor: successor, olderExpire: olderExpire)
    }
  }

  func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int {
    try await transactions.writeDevices {
      try WebAuthTokenTable(transaction: $0)
        .endSessions(of: userRecordName, everywhere: everywhere, at: timestamp, ordering: &$1)
    }
  }
}
