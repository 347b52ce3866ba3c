import CloudKitModel

/// The keys of administrators.
public protocol AdminKeyStore: Sendable {
  /// Stores a key, which is valid from then on.
  func addAdminKey(_ key: AdminKey) async throws
  /// Returns all keys, revoked ones too, oldest first.
  func adminKeys() async throws -> [AdminKey]
  /// Revokes a key, and ends the console sessions that began with the key, in one transaction.
  ///
  /// - Returns: false if no key has this hash or the key is already revoked.
  func revokeAdminKey(withHash hash: [UInt8], at timestamp: Timestamp) async throws -> Bool
}
