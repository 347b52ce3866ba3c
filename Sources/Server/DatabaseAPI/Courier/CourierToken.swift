import Cryptography
import StoreModel

/// What the store knows a reader of the web courier by. Who has a reader's token gets its user's
/// notifications, so the text is kept nowhere.
enum CourierToken {
  /// The name of the reader with this token: the hash of the text, in hexadecimal digits.
  static func name(of text: String) -> String { SHA256.hash(text.utf8).hexadecimal }

  /// The reader with this token; nil when there is none, or its time is over and it is gone.
  static func reader(withToken text: String, in store: any DeviceReading) async throws
    -> DeviceToken?
  {
    if let device = try await store.deviceToken(name(of: text), kind: .courier) { return device }
    // Up to twelve hours after an upgrade there are readers that an earlier version filed under the
    // text itself: base64 of 32 bytes, which no name is.
    guard text.utf8.count == 44, text.hasSuffix("=") else { return nil }
    return try await store.deviceToken(text, kind: .courier)
  }
}
