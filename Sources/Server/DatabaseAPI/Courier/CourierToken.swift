import Cryptography
import Storage
import StoreModel

/// The two forms of a web courier reader's token: the text, which the client has, and the name,
/// which the store has.
///
/// A reader is a page or a program that gets notifications from the web courier.
///
/// A reader's token is the only credential for its user's notifications. Therefore the store keeps
/// only a hash of the text.
enum CourierToken {
  /// Returns the SHA-256 hash of the token's text in hexadecimal digits.
  static func name(of text: String) -> String { SHA256.hash(text.utf8).hexadecimal }

  /// Returns the registrations of the reader with this token, one for each container in which it listens;
  /// none if there is no such reader, or if the token has expired and was removed.
  static func registrations(
    ofReader text: String, in store: DeviceService
  ) async throws -> [DeviceToken] {
    let known = try await store.registrations(ofToken: name(of: text), kind: .courier)
    if !known.isEmpty { return known }
    // An earlier version stored readers under the text itself, the base64 of 32 bytes. No name in
    // hexadecimal digits has that length. Such readers exist for up to 12 hours after an upgrade.
    guard text.utf8.count == 44, text.hasSuffix("=") else { return [] }
    return try await store.registrations(ofToken: text, kind: .courier)
  }
}
