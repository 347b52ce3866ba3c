/// The secrets of a store, which all servers on the store share.
public protocol SecretStore: Sendable {
  /// The cipher for texts that clients keep, such as change tokens. Its keys come from one of the
  /// secrets, so each server can read the texts of the others.
  var tokens: TokenCipher { get }
  /// Returns the secret with this name. If there is none yet, the method stores `proposed` under
  /// the name and returns it.
  func secret(named name: String, proposing proposed: [UInt8]) async throws -> [UInt8]
  /// Returns the secret with this name that ``replaceSecret(named:by:)`` stored last; nil if there is none.
  func secret(named name: String) async throws -> [UInt8]?
  /// Stores a secret under a name, in place of the one before.
  func replaceSecret(named name: String, by value: [UInt8]) async throws
}
