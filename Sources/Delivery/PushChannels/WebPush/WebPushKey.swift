import Cryptography
import Foundation
import Settings
import StoreModel
import Synchronization

/// The server's VAPID key, by which push services identify the server. Browsers bind their
/// subscriptions to it.
///
/// The configuration names its file. Otherwise the server makes a key at the first use and keeps it
/// in the store, beside the subscriptions that are useless without it. All servers on the store
/// share the key.
package final class WebPushKey: Sendable {
  /// The store of the key that the server makes.
  private let store: any SecretStore
  /// The key; `nil` until it was read from the store. A lock protects it.
  private let known: Mutex<ES256PrivateKey?>

  /// Creates the key of the settings. It reads the file, if the settings name one.
  ///
  /// - Throws: `ConfigurationError` if the file holds no usable key.
  package init(
    _ settings: WebPushSettings, store: any SecretStore
  ) throws(ConfigurationError) {
    self.store = store
    var key: ES256PrivateKey?
    if let file = settings.keyFile { key = try Self.key(inFile: file) }
    known = Mutex(key)
  }

  /// Returns the key in a file.
  ///
  /// - Throws: `ConfigurationError` if the file holds no usable key.
  package static func key(inFile file: String) throws(ConfigurationError) -> ES256PrivateKey {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw ConfigurationError("webPush: keyFile \(file) cannot be read")
    }
    do {
      return try ES256PrivateKey(pem: String(decoding: data, as: UTF8.self))
    } catch {
      throw ConfigurationError("webPush: keyFile \(file) does not contain a usable key: \(error)")
    }
  }

  /// Returns the key. The first call without a key file reads the key from the store, or creates it
  /// there.
  ///
  /// - Throws: The error of the store, or `CryptographyError` if the stored key is not usable.
  package func key() async throws -> ES256PrivateKey {
    if let key = known.withLock({ $0 }) { return key }
    let stored = try await store.secret(
      named: "web-push-key", proposing: Array(ES256PrivateKey().pem.utf8))
    let key = try ES256PrivateKey(pem: String(decoding: stored, as: UTF8.self))
    known.withLock { $0 = key }
    return key
  }
}
