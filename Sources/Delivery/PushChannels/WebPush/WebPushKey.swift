import Cryptography
import Foundation
import Settings
import Storage
import StoreModel
import Synchronization

/// The server's VAPID key (RFC 8292), by which push services identify the server. The subscription
/// of each browser is valid only with this key.
///
/// The configuration may name a file with the key. Otherwise the server creates a key at its first
/// use and keeps the key in the store. All servers on the store share that key.
package final class WebPushKey: Sendable {
  private let store: SecretService
  /// The key, which a lock protects. `nil` until the key was read from the store.
  private let known: Mutex<ES256PrivateKey?>

  /// Creates the key of the settings. The initializer reads the key file, if the settings name one.
  ///
  /// - Throws: `ConfigurationError` if the file cannot be read or contains no usable key.
  package init(
    _ settings: WebPushSettings, store: SecretService
  ) throws(ConfigurationError) {
    self.store = store
    var key: ES256PrivateKey?
    if let file = settings.keyFile { key = try Self.key(inFile: file) }
    known = Mutex(key)
  }

  /// Returns the key in a file.
  ///
  /// - Throws: `ConfigurationError` if the file cannot be read or contains no usable key.
  package static func key(inFile file: String) throws(ConfigurationError) -> ES256PrivateKey {
    let data: Data
    do {
      data = try InputFile.contents(of: file)
    } catch {
      throw ConfigurationError("webPush: keyFile \(file) cannot be read: \(error.reason)")
    }
    do {
      return try ES256PrivateKey(pem: String(decoding: data, as: UTF8.self))
    } catch {
      throw ConfigurationError("webPush: keyFile \(file) does not contain a usable key: \(error)")
    }
  }

  /// Returns the key. If there is no key file, the first call reads the key from the store. If the
  /// store has no key, the call creates one there.
  ///
  /// - Throws: The error of the store. `CryptographyError` if the stored key is not usable or no
  ///   key can be created.
  package func key() async throws -> ES256PrivateKey {
    if let key = known.withLock({ $0 }) { return key }
    let stored = try await store.secret(
      named: "web-push-key", proposing: Array(ES256PrivateKey().pem.utf8))
    let key = try ES256PrivateKey(pem: String(decoding: stored, as: UTF8.self))
    known.withLock { $0 = key }
    return key
  }
}
