import CloudKitModel
import SQLEngine
import StoreModel

extension AccountService {
  /// Stores a token. The store has only the token's hash, not its text.
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
    try await transactions.readOne {
      try WebAuthTokenTable(transaction: $0).token(withHash: hash)
    }
  }

  /// Records a request with a session's token in one write, and adds the token that replaces it;
  /// see ``WebAuthTokenTable/rotate(tokenWithHash:successor:olderExpire:)``.
  ///
  /// - Parameters:
  ///   - successor: the new token; nil adds none.
  ///   - olderExpire: the time at which the session's older tokens expire, at the latest; nil
  ///     changes no older token.
  /// - Returns: false if no session has a token with this hash. Nothing is written then.
  func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try WebAuthTokenTable(transaction: $0)
        .rotate(tokenWithHash: hash, successor: successor, olderExpire: olderExpire)
    }
  }

  /// Ends one session: deletes all its tokens, and the registrations of devices made in it.
  func endSession(withID id: [UInt8], at timestamp: Timestamp) async throws {
    try await transactions.writeDevices {
      try WebAuthTokenTable(transaction: $0).endSession(
        withID: id, at: timestamp, ordering: &$1)
    }
  }

  /// Ends a user's sessions in web apps, with the registrations of devices made in them. If
  /// `everywhere` is true, also removes the user's other tokens and registrations, except webhooks.
  ///
  /// The method also abandons the deliveries that wait for the removed devices, and deletes the
  /// positions of the removed readers (``DeliveryOrder``).
  ///
  /// - Returns: the number of ended sessions and other tokens that had not expired at `timestamp`.
  ///   The tokens of one session count once.
  func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int {
    try await transactions.writeDevices {
      try WebAuthTokenTable(transaction: $0)
        .endSessions(of: userRecordName, everywhere: everywhere, at: timestamp, ordering: &$1)
    }
  }
}
