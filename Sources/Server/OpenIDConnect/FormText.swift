import Foundation

/// Fields as a query or a form carries them (`application/x-www-form-urlencoded`).
enum FormText {
  // RFC 3986, section 2.3: what needs no escape anywhere.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  static func encode(_ fields: [(String, String)]) -> String {
    fields.map { "\(escaped($0))=\(escaped($1))" }.joined(separator: "&")
  }
}
