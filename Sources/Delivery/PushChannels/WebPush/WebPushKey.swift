import Cryptography
import Foundation
import Settings
import StoreModel
import Synchronization

/// The key by which push services know the server, and to which browsers bind their subscriptions.
///
/// It is the one of the configuration, or one that the server makes when it is first needed and keeps
/// in the store: there it is where the subscriptions are that are worth nothing without it.
package final class WebPushKey: Sendable {
  private let store: any SecretStore
  private let known: Mutex<ES256PrivateKey?>

  /// - Throws: ``ConfigurationError`` when the file holds no usable key.
  package init(
    _ settings: WebPushSettings, store: any SecretStore
  ) throws(ConfigurationError) {
    self.store = store
    var key: ES256PrivateKey?
    if let file = settings.keyFile { key = try Self.key(inFile: file) }
    known = Mutex(key)
  }

  /// - Throws: ``ConfigurationError`` when the file holds no usable key.
  package static func key(inFile file: String) throws(ConfigurationError) -> ES256PrivateKey {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw ConfigurationError("webPush: keyFile \(file) cannot be read")
    }
    do {
      return try ES256PrivateKey(pem: String(decoding: data, as: UTF8.self))
    } catch {
      throw ConfigurationError("webPush: keyFile \(file) holds no usable key: \(error)")
    }
  }

  package func key() async throws -> ES256PrivateKey {
    if let key = known.withLock({ $0 }) { return key }
    let stored = try await store.secret(
      named: "web-push-key", proposing: Array(ES256PrivateKey().pem.utf8))
    let key = try ES256PrivateKey(pem: String(decoding: stored, as: UTF8.self))
    known.withLock { $0 = key }
    return key
  }
}
