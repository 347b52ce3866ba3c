import Foundation

/// The encoding of fields in a query or a form (`application/x-www-form-urlencoded`).
enum FormText {
  // The characters that need no escape in any part of a URL (RFC 3986, section 2.3).
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// Returns a text with all characters except ``unreserved`` ones escaped as `%XX`.
  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// Returns the fields as `name=value`, joined with `&`.
  static func encode(_ fields: [(String, String)]) -> String {
    fields.map { "\(escaped($0))=\(escaped($1))" }.joined(separator: "&")
  }
}
