import CloudKitModel
import SQLEngine
import StoreModel

/// The credentials of programs: API tokens, server-to-server keys, and the used signatures of these
/// keys.
struct CredentialService: CredentialStore, SignatureStore {
  let transactions: Transactions

  /// Stores an API token. Its container's environment requires a token from then on.
  func addAPIToken(_ token: APIToken) async throws {
    try await transactions.write(locking: .reference) {
      try APITokenTable(transaction: $0).add(token)
    }
  }

  /// Stores a server-to-server key.
  ///
  /// - Throws: ``StoreError/Code/exists`` if the container's environment has the public key
  ///   already, revoked or not.
  func addServerKey(_ key: ServerKey) async throws {
    try await transactions.write(locking: .reference) {
      try ServerKeyTable(transaction: $0).add(key)
    }
  }

  /// Returns the tokens and keys of a container's environment, revoked ones included.
  func programCredentials(
    container: String, environment: ContainerEnvironment
  ) async throws -> ProgramCredentials {
    try await transactions.read {
      ProgramCredentials(
        apiTokens: try APITokenTable(transaction: $0)
          .tokens(container: container, environment: environment),
        serverKeys: try ServerKeyTable(transaction: $0)
          .keys(container: container, environment: environment))
    }
  }

  /// Returns all tokens and keys, revoked ones included.
  func programCredentials() async throws -> ProgramCredentials {
    try await transactions.read {
      ProgramCredentials(
        apiTokens: try APITokenTable(transaction: $0).tokens(),
        serverKeys: try ServerKeyTable(transaction: $0).keys())
    }
  }

  /// Revokes an API token; false if there is no valid token with this hash.
  func revokeAPIToken(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try APITokenTable(transaction: $0).revoke(tokenWithHash: hash, at: timestamp)
    }
  }

  /// Revokes a server-to-server key, removes its user's webhooks, and abandons their waiting
  /// deliveries.
  ///
  /// - Returns: false if there is no valid key with this ID. Nothing is changed then.
  func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool {
    try await transactions.writeDevices { transaction, orders in
      let user = try ServerKeyTable(transaction: transaction).revoke(keyID, at: timestamp)
      guard let user else { return false }
      try DeviceTable(transaction: transaction)
        .removeAll(of: user, kind: .webhook, at: timestamp, ordering: &orders)
      return true
    }
  }

  /// Marks a signature as used; false if it was used before.
  ///
  /// The write takes no lock: the primary key lets one of two simultaneous requests through.
  ///
  /// - Parameter expires: the time after which the signature is refused by its date, so that the
  ///   row can be deleted.
  func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool {
    try await transactions.write(locking: .rows) {
      try TakenSignatureTable(transaction: $0).take(signature, ofKey: keyID, until: expires)
    }
  }
}
