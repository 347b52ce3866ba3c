import Cryptography
import StoreModel

/// The token of a web courier reader, in the text that the client has and the name that the store
/// has.
///
/// A reader's token is the only credential for its user's notifications. Therefore the server
/// stores only its hash.
enum CourierToken {
  /// Returns the name of a reader in the store: the SHA-256 hash of the token's text, in
  /// hexadecimal digits.
  static func name(of text: String) -> String { SHA256.hash(text.utf8).hexadecimal }

  /// Returns the reader with this token; nil if there is none, or if the token has expired and was
  /// removed.
  static func reader(withToken text: String, in store: any DeviceReading) async throws
    -> DeviceToken?
  {
    if let device = try await store.deviceToken(name(of: text), kind: .courier) { return device }
    // An earlier version stored readers under the text itself: base64 of 32 bytes, which no hash
    // looks like. For up to twelve hours after an upgrade such readers exist.
    guard text.utf8.count == 44, text.hasSuffix("=") else { return nil }
    return try await store.deviceToken(text, kind: .courier)
  }
}
