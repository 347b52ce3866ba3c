import CloudKitModel
import StoreModel

extension HookedStore {
  func addAPIToken(_ token: APIToken) async throws { try await base.addAPIToken(token) }
  func addServerKey(_ key: ServerKey) async throws { try await base.addServerKey(key) }
  func programCredentials(
    container: String, environment: ContainerEnvironment
  ) async throws -> ProgramCredentials {
    try await base.programCredentials(container: container, environment: environment)
  }
  func programCredentials() async throws -> ProgramCredentials {
    try await base.programCredentials()
  }
  func revokeAPIToken(withHash hash: [UInt8], at timestamp: Timestamp) async throws -> Bool {
    try await base.revokeAPIToken(withHash: hash, at: timestamp)
  }
  func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool {
    try await base.revokeServerKey(keyID, at: timestamp)
  }
  func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool {
    try await base.rotateWebAuthToken(
      withHash: hash, successor: successor, olderExpire: olderExpire)
  }
  func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int {
    try await base.endSessions(of: userRecordName, everywhere: everywhere, at: timestamp)
  }
  func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool {
    try await base.takeSignature(signature, ofKey: keyID, until: expires)
  }
}
