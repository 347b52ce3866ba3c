import CloudKitModel
import StoreModel

extension HookedStore {
  func setPasswordHash(
    _ hash: String, ofUserNamed name: String, at timestamp: Timestamp
  ) async throws {
    try await base.setPasswordHash(hash, ofUserNamed: name, at: timestamp)
  }
  func passwordHash(ofUserNamed name: String) async throws -> String? {
    try await base.passwordHash(ofUserNamed: name)
  }
  func user(
    boundTo identity: IssuedIdentity, proposing name: String, profile: UserProfile,
    at timestamp: Timestamp
  ) async throws -> User {
    try await base.user(boundTo: identity, proposing: name, profile: profile, at: timestamp)
  }
}
