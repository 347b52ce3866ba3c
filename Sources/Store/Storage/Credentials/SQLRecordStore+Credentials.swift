import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func addAPIToken(_ token: APIToken) async throws {
    try await write(locking: .reference) { try APITokenTable(session: $0).add(token) }
  }

  public func addServerKey(_ key: ServerKey) async throws {
    try await write(locking: .reference) { try ServerKeyTable(session: $0).add(key) }
  }

  public func programCredentials(
    container: String, environment: ContainerEnvironment
  ) async throws -> ProgramCredentials {
    try await read {
      ProgramCredentials(
        apiTokens: try APITokenTable(session: $0)
          .tokens(container: container, environment: environment),
        serverKeys: try ServerKeyTable(session: $0)
          .keys(container: container, environment: environment))
    }
  }

  public func programCredentials() async throws -> ProgramCredentials {
    try await read {
      ProgramCredentials(
        apiTokens: try APITokenTable(session: $0).tokens(),
        serverKeys: try ServerKeyTable(session: $0).keys())
    }
  }

  public func revokeAPIToken(
    withHash hash: [UInt8], at timestamp: Timestamp
  ) async throws -> Bool {
    try await write(locking: .reference) {
      try APITokenTable(session: $0).revoke(tokenWithHash: hash, at: timestamp)
    }
  }

  public func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool {
    try await writeDevices { session, orders in
      let user = try ServerKeyTable(session: session).revoke(keyID, at: timestamp)
      guard let user else { return false }
      try DeviceTable(session: session)
        .removeAll(of: user, kind: .webhook, at: timestamp, ordering: &orders)
      return true
    }
  }

  public func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool {
    try await write(locking: .rows) {
      try TakenSignatureTable(session: $0).take(signature, ofKey: keyID, until: expires)
    }
  }
}
