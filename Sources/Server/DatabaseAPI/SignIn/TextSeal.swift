import CloudKitModel
import Cryptography
import Foundation
import JSONCoding

/// A seal for texts in URLs and forms: an HMAC with SHA-256, which shows that a server of this
/// store made the text.
///
/// Everyone can read a sealed text, but only the servers of the store can make one.
struct TextSeal: Sendable {
  /// The key, which all servers of the store share.
  private let key: [UInt8]

  init(key: [UInt8]) {
    self.key = key
  }

  /// Seals the members of an object. The result has only letters, digits, `-`, `_` and `.`.
  ///
  /// - Parameters:
  ///   - purpose: the use of the text. A text for one purpose is not accepted for another.
  ///   - holder: a value that is needed to open the text, such as a browser's cookie; empty if
  ///     every value may open it.
  ///   - end: the time at which the text expires.
  func seal(
    _ members: [String: JSONValue], for purpose: String, holder: String = "", until end: Timestamp
  ) -> String {
    var members = members
    members["until"] = .int(end.milliseconds)
    let content = Base64URL.encode(JSONValue.object(members).text.utf8)
    return "\(content).\(Base64URL.encode(code(content, purpose, holder)))"
  }

  /// Returns the members of a sealed text; nil if it was not sealed for this purpose and holder, or
  /// has expired.
  func open(
    _ text: String, for purpose: String, holder: String = "", at now: Timestamp
  ) -> [String: JSONValue]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let given = Base64URL.decode(parts[1]),
      HMACSHA256.isCode(
        given, of: Self.message(String(parts[0]), purpose, holder), key: key),
      let bytes = Base64URL.decode(parts[0]),
      // A text that was not sealed here opens as nil.
      let members = (try? JSONValue(parsing: Data(bytes)))?.object,
      let end = members["until"]?.int, Timestamp(milliseconds: end) > now
    else { return nil }
    return members
  }

  /// Returns a value that only the servers of the store can compute from a text, because it depends
  /// on their key.
  func derive(_ text: String, for purpose: String, holder: String) -> String {
    Base64URL.encode(code(text, purpose, holder))
  }

  private func code(_ text: String, _ purpose: String, _ holder: String) -> [UInt8] {
    HMACSHA256.code(for: Self.message(text, purpose, holder), key: key)
  }

  /// Returns the bytes that the HMAC covers. Each part has its length before it, so that no part
  /// can be read as the beginning of the next.
  private static func message(_ text: String, _ purpose: String, _ holder: String) -> [UInt8] {
    [purpose, holder, text].flatMap { Array("\($0.utf8.count):".utf8) + Array($0.utf8) }
  }
}
