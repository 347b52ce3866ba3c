import CloudKitModel
import StoreModel

/// The credentials of programs (API tokens and server-to-server keys), and the used signatures of
/// these keys. The server refuses a recorded request that an attacker sends again, because its
/// signature is already used.
public struct CredentialService: Sendable {
  let transactions: Transactions

  /// Stores an API token. From then on, requests for its container's environment need a token.
  public func addAPIToken(_ token: APIToken) async throws {
    try await transactions.write(locking: .reference) {
      try ContainerTable(transaction: $0).enter(token.container, for: nil)
      try APITokenTable(transaction: $0).add(token)
    }
  }

  /// - Throws: ``StoreError/Code/exists`` if the container's environment already has the public
  ///   key, revoked or not.
  public func addServerKey(_ key: ServerKey) async throws {
    try await transactions.write(locking: .reference) {
      try ContainerTable(transaction: $0).enter(key.container, for: nil)
      try ServerKeyTable(transaction: $0).add(key)
    }
  }

  /// Returns the credentials for a container's environment, revoked ones too, oldest first.
  public func programCredentials(
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

  /// Returns the credentials of all containers, revoked ones too, by container and age.
  public func programCredentials() async throws -> ProgramCredentials {
    try await transactions.read {
      ProgramCredentials(
        apiTokens: try APITokenTable(transaction: $0).tokens(),
        serverKeys: try ServerKeyTable(transaction: $0).keys())
    }
  }

  /// Revokes a token. Returns false if no token has this hash, or it is already revoked.
  public func revokeAPIToken(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try APITokenTable(transaction: $0).revoke(tokenWithHash: hash, at: timestamp)
    }
  }

  /// Revokes a key, removes the webhooks of its user, and abandons the deliveries that wait for
  /// them. Returns false, and changes nothing, if no key has this ID, or it is already revoked.
  public func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool {
    try await transactions.writeDevices { transaction, orders in
      let user = try ServerKeyTable(transaction: transaction).revoke(keyID, at: timestamp)
      guard let user else { return false }
      try DeviceTable(transaction: transaction)
        .removeAll(
          of: user, kinds: [.webhook], at: timestamp, because: .unregistered, ordering: &orders)
      return true
    }
  }

  /// Stores a signature of a key as used. All servers of a store together get true once for each
  /// signature, also after a restart. The write takes no lock: of two requests at the same time,
  /// the primary key permits only one row.
  ///
  /// - Parameter expires: the time from which the server refuses the signature because of its age.
  ///   The store may then delete it.
  public func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool {
    try await transactions.write(locking: .rows) {
      try TakenSignatureTable(transaction: $0).take(signature, ofKey: keyID, until: expires)
    }
  }
}

/// API tokens and server-to-server keys, revoked ones too.
public struct ProgramCredentials: Sendable, Hashable {
  /// The API tokens, which web apps send.
  public var apiTokens: [APIToken] = []
  /// The public keys with which programs sign their requests.
  public var serverKeys: [ServerKey] = []
}
