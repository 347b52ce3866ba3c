import CloudKitModel
import SQLEngine
import StoreModel

/// The credentials of programs: API tokens and server-to-server keys. The service also has the
/// signatures of these keys that requests have used.
struct CredentialService: CredentialStore, SignatureStore {
  let transactions: Transactions

  /// Stores an API token. From then on, the token's container and environment require an API token.
  func addAPIToken(_ token: APIToken) async throws {
    try await transactions.write(locking: .reference) {
      try ContainerTable(transaction: $0).enter(token.container, for: nil)
      try APITokenTable(transaction: $0).add(token)
    }
  }

  /// Stores a server-to-server key.
  ///
  /// - Throws: ``StoreError/Code/exists`` if the container's environment has the public key
  ///   already, revoked or not.
  func addServerKey(_ key: ServerKey) async throws {
    try await transactions.write(locking: .reference) {
      try ContainerTable(transaction: $0).enter(key.container, for: nil)
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

  /// Revokes an API token. Returns false if there is no token with this hash, or it is already
  /// revoked.
  func revokeAPIToken(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try APITokenTable(transaction: $0).revoke(tokenWithHash: hash, at: timestamp)
    }
  }

  /// Revokes a server-to-server key, removes the webhooks of the key's user, and abandons the
  /// deliveries that wait for these webhooks.
  ///
  /// - Returns: false if there is no key with this ID, or it is already revoked. Nothing is changed
  ///   then.
  func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool {
    try await transactions.writeDevices { transaction, orders in
      let user = try ServerKeyTable(transaction: transaction).revoke(keyID, at: timestamp)
      guard let user else { return false }
      try DeviceTable(transaction: transaction)
        .removeAll(
          of: user, kinds: [.webhook], at: timestamp, because: .unregistered, ordering: &orders)
      return true
    }
  }

  /// Stores a signature as used. Returns false if the signature was used before.
  ///
  /// The write takes no lock. If two requests with the same signature come at the same time, the
  /// primary key permits only one row.
  ///
  /// - Parameter expires: the time after which the server refuses the signature because of its age.
  ///   The row can be deleted after that.
  func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool {
    try await transactions.write(locking: .rows) {
      try TakenSignatureTable(transaction: $0).take(signature, ofKey: keyID, until: expires)
    }
  }
}
