import CloudKitModel
import Cryptography
import Settings
import StoreModel

/// Makes the keys of those who run a server, and says whether a text is one.
public enum AdminKeys {
  /// Bytes of a label at most.
  public static let labelLimit = 200

  /// Makes an admin key and keeps its hash.
  ///
  /// - Returns: the key's text, 64 hexadecimal digits, which is kept nowhere.
  /// - Throws: ``ConfigurationError`` for a label that is too long.
  public static func add(
    label: String, to store: any AdminKeyStore, at now: Timestamp
  ) async throws -> String {
    guard label.utf8.count <= labelLimit else {
      throw ConfigurationError("the label has more than \(labelLimit) bytes; make it shorter")
    }
    let text = SecureRandom.bytes(count: 32).hexadecimal
    try await store.addAdminKey(
      AdminKey(hash: hash(of: text), label: label, created: now))
    return text
  }

  /// The key with this text; nil where none is known or it was revoked. All are compared, each as
  /// long as the others.
  static func key(_ text: String, in store: any AdminKeyStore) async throws -> AdminKey? {
    let hash = hash(of: text)
    var found: AdminKey?
    for key in try await store.adminKeys()
    where ConstantTime.areEqual(key.hash, hash) {
      found = key
    }
    return found?.revoked == nil ? found : nil
  }

  static func hash(of text: String) -> [UInt8] {
    SHA256.hash(text.utf8)
  }
}
