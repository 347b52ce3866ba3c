/// The secrets of a store, which all servers on it share.
public protocol SecretStore: Sendable {
  /// The cipher for texts that clients keep. Its key is one of the secrets, so a text from one
  /// server can be read by all.
  var tokens: TokenCipher { get }
  /// Returns the secret of this name, which all servers on the store share. If there is none yet,
  /// the call stores `proposed` and returns it.
  func secret(named name: String, proposing proposed: [UInt8]) async throws -> [UInt8]
}
