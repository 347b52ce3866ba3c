import CloudKitModel
import SQLEngine
import StoreModel

extension AccountService {
  /// Stores a token, which is valid from its commit on.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the token's user is being deleted or was deleted
  ///   recently.
  public func addWebAuthToken(_ token: WebAuthToken) async throws {
    try await transactions.write(locking: .reference) {
      try WebAuthTokenTable(transaction: $0).add(token)
    }
  }

  /// Returns the token with this SHA-256 hash. The token may have expired: the caller compares
  /// ``WebAuthToken/expires`` with the present time.
  public func webAuthToken(withHash hash: [UInt8]) async throws -> WebAuthToken? {
    try await transactions.readOne {
      try WebAuthTokenTable(transaction: $0).token(withHash: hash)
    }
  }

  /// Records a request with a session's token: adds the session's next token, and makes older
  /// tokens expire earlier.
  ///
  /// - Parameter olderExpire: a time for the first request with the token; nil for later requests.
  ///   With a time, the write marks the token as used, and the session's older tokens expire at
  ///   this time at the latest.
  /// - Returns: false if no session has a token with this hash. Nothing is written then.
  /// - Throws: ``StoreError/Code/userDeleted`` if there is a successor, and its user is being
  ///   deleted or was deleted recently.
  public func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try WebAuthTokenTable(transaction: $0)
        .rotate(tokenWithHash: hash, successor: successor, olderExpire: olderExpire)
    }
  }

  /// Ends one sign-in of a web app: deletes the web auth tokens with its ID, and the registrations
  /// of devices that were made in the session.
  public func endSession(withID id: [UInt8], at timestamp: Timestamp) async throws {
    try await transactions.writeDevices {
      try WebAuthTokenTable(transaction: $0).endSession(
        withID: id, at: timestamp, ordering: &$1)
    }
  }

  /// Ends a user's sessions in web apps: deletes their web auth tokens, and the registrations of
  /// devices that were made in these sessions.
  ///
  /// - Parameter everywhere: whether to delete the tokens of native clients too, and all
  ///   registrations of the user's devices, browsers and web courier readers. Webhooks stay.
  /// - Returns: the number of ended sessions that had not expired at `timestamp`. Each token of a
  ///   native client counts as a session. Devices do not count.
  public func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int {
    try await transactions.writeDevices {
      try WebAuthTokenTable(transaction: $0)
        .endSessions(of: userRecordName, everywhere: everywhere, at: timestamp, ordering: &$1)
    }
  }
}
