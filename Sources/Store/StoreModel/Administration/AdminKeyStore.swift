import CloudKitModel

/// The keys of those who run the server.
public protocol AdminKeyStore: Sendable {
  func addAdminKey(_ key: AdminKey) async throws
  /// Every key, those that are revoked too, oldest first.
  func adminKeys() async throws -> [AdminKey]
  /// Refuses a key from now on and ends the sessions that began with it; false when there is none
  /// with this hash or it is revoked already.
  func revokeAdminKey(withHash hash: [UInt8], at timestamp: Timestamp) async throws -> Bool
}
