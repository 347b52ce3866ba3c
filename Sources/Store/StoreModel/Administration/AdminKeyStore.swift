import CloudKitModel

/// The keys of administrators.
public protocol AdminKeyStore: Sendable {
  func addAdminKey(_ key: AdminKey) async throws
  /// All keys, revoked ones too, oldest first.
  func adminKeys() async throws -> [AdminKey]
  /// Revokes a key and ends the sessions that were begun with it; false if no key has this hash or
  /// the key is already revoked.
  func revokeAdminKey(withHash hash: [UInt8], at timestamp: Timestamp) async throws -> Bool
}
