import CloudKitModel
import Cryptography
import Foundation
import JSONCoding

/// Texts that only this server can have made, for URLs and forms that come back to it. They can be
/// read by everyone.
struct TextSeal: Sendable {
  private let key: [UInt8]

  init(key: [UInt8]) {
    self.key = key
  }

  /// A text of letters, digits, `-`, `_` and `.` with the members of an object.
  ///
  /// - Parameters:
  ///   - purpose: texts of one purpose are not accepted for another.
  ///   - holder: what must be known to open it, such as a browser's cookie.
  func seal(
    _ members: [String: JSONValue], for purpose: String, holder: String = "", until end: Timestamp
  ) -> String {
    var members = members
    members["until"] = .int(end.milliseconds)
    let content = Base64URL.encode(JSONValue.object(members).text.utf8)
    return "\(content).\(Base64URL.encode(code(content, purpose, holder)))"
  }

  /// The members of a sealed text; nil when it was not sealed here for this purpose and holder, or
  /// its time is over.
  func open(
    _ text: String, for purpose: String, holder: String = "", at now: Timestamp
  ) -> [String: JSONValue]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let given = Base64URL.decode(parts[1]),
      HMACSHA256.isCode(
        given, of: Self.message(String(parts[0]), purpose, holder), key: key),
      let bytes = Base64URL.decode(parts[0]),
      // What was not sealed here opens as nil.
      let members = (try? JSONValue(parsing: Data(bytes)))?.object,
      let end = members["until"]?.int, Timestamp(milliseconds: end) > now
    else { return nil }
    return members
  }

  /// A value that only this server can compute from a text.
  func derive(_ text: String, for purpose: String, holder: String) -> String {
    Base64URL.encode(code(text, purpose, holder))
  }

  private func code(_ text: String, _ purpose: String, _ holder: String) -> [UInt8] {
    HMACSHA256.code(for: Self.message(text, purpose, holder), key: key)
  }

  /// No part can pass for the beginning of the next.
  private static func message(_ text: String, _ purpose: String, _ holder: String) -> [UInt8] {
    [purpose, holder, text].flatMap { Array("\($0.utf8.count):".utf8) + Array($0.utf8) }
  }
}
