import CloudKitModel
import SQLEngine
import StoreModel

extension AccountService {
  /// Stores a token, of which the store has the hash alone.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the token's user is being deleted or was deleted
  ///   recently.
  func addWebAuthToken(_ token: WebAuthToken) async throws {
    try await transactions.write(locking: .reference) {
      try WebAuthTokenTable(transaction: $0).add(token)
    }
  }

  /// Returns the token with this SHA-256 hash; nil if there is none. The token may have expired:
  /// the caller compares ``WebAuthToken/expires`` with its own time.
  func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken? {
    try await transactions.read { try WebAuthTokenTable(transaction: $0).token(withHash: hash) }
  }

  /// Replaces a session's token by its successor in one write; see
  /// ``WebAuthTokenTable/rotate(tokenWithHash:successor:olderExpire:)``.
  func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try WebAuthTokenTable(transaction: $0)
        .rotate(tokenWithHash: hash, successor: successor, olderExpire: olderExpire)
    }
  }

  /// Ends a user's sessions and, if `everywhere` is true, removes the user's other tokens, courier
  /// readers and browsers.
  ///
  /// The write also carries out the ``DeliveryOrder``s for the removed devices.
  ///
  /// - Returns: the number of sessions that had not expired at `timestamp`.
  func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int {
    try await transactions.writeDevices {
      try WebAuthTokenTable(transaction: $0)
        .endSessions(of: userRecordName, everywhere: everywhere, at: timestamp, ordering: &$1)
    }
  }
}
