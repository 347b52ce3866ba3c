import CloudKitModel
import SQLEngine
import StoreModel

/// API tokens, server-to-server keys, and the used signatures of these keys.
struct CredentialService: CredentialStore, SignatureStore {
  let transactions: Transactions

  func addAPIToken(_ token: APIToken) async throws {
    try await transactions.write(locking: .reference) {
      try APITokenTable(transaction: $0).add(token)
    }
  }

  func addServerKey(_ key: ServerKey) async throws {
    try await transactions.write(locking: .reference) {
      try ServerKeyTable(transaction: $0).add(key)
    }
  }

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

  func programCredentials() async throws -> ProgramCredentials {
    try await transactions.read {
      ProgramCredentials(
        apiTokens: try APITokenTable(transaction: $0).tokens(),
        serverKeys: try ServerKeyTable(transaction: $0).keys())
    }
  }

  func revokeAPIToken(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> Bool {
    try await transactions.write(locking: .reference) {
      try APITokenTable(transaction: $0).revoke(tokenWithHash: hash, at: timestamp)
    }
  }

  func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool {
    try await transactions.writeDevices { transaction, orders in
      let user = try ServerKeyTable(transaction: transaction).revoke(keyID, at: timestamp)
      guard let user else { return false }
      try DeviceTable(transaction: transaction)
        .removeAll(of: user, kind: .webhook, at: timestamp, ordering: &orders)
      return true
    }
  }

  func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool {
    try await transactions.write(locking: .rows) {
      try TakenSignatureTable(transaction: $0).take(signature, ofKey: keyID, until: expires)
    }
  }
}
