/// The secrets of a store, which all servers on it share.
public protocol SecretStore: Sendable {
  /// Seals texts that clients keep.
  var tokens: TokenCipher { get }
  /// The secret of this name, which all servers on the store share: `proposed` if there is none
  /// yet.
  func secret(named name: String, proposing proposed: [UInt8]) async throws -> [UInt8]
}
