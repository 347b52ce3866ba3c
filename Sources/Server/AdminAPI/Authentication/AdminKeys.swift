import CloudKitModel
import Cryptography
import Settings
import Storage
import StoreModel

/// The creation and recognition of admin keys, which authenticate the operators of a server.
public enum AdminKeys {
  /// The maximum length of a label in bytes of UTF-8.
  public static let labelLimit = 200

  /// Creates an admin key. The store keeps only the SHA-256 hash of the key's text.
  ///
  /// - Parameter label: a text by which people recognise the key; at most ``labelLimit`` bytes.
  /// - Returns: the key's text, 64 hexadecimal digits for 32 random bytes. The store cannot return
  ///   this text again.
  /// - Throws: `ConfigurationError` if the label is too long.
  public static func add(
    label: String, to store: AdminAccessService, at now: Timestamp
  ) async throws -> String {
    guard label.utf8.count <= labelLimit else {
      throw ConfigurationError("the label has more than \(labelLimit) bytes; make it shorter")
    }
    let text = SecureRandom.bytes(count: 32).hexadecimal
    try await store.addAdminKey(
      AdminKey(hash: hash(of: text), label: label, created: now))
    return text
  }

  /// Returns the key with this text; nil if the key is unknown or revoked.
  ///
  /// The function compares the hash with every key of the store, and the time of a comparison does
  /// not depend on the bytes. The duration of a call therefore reveals nothing about the keys.
  static func key(_ text: String, in store: AdminAccessService) async throws -> AdminKey? {
    let hash = hash(of: text)
    var found: AdminKey?
    for key in try await store.adminKeys()
    where ConstantTime.areEqual(key.hash, hash) {
      found = key
    }
    return found?.revoked == nil ? found : nil
  }

  /// Returns the SHA-256 hash under which the store keeps a key or the cookie of a session.
  static func hash(of text: String) -> [UInt8] {
    SHA256.hash(text.utf8)
  }
}
