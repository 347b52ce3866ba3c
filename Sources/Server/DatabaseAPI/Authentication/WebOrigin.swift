import Foundation
import Settings

/// The origin of web pages in the form that browsers send, such as `https://app.example.com:8443`.
public struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
  /// The origin as text: scheme, host and port. The port is absent if it is the usual one of the
  /// scheme: 80 for `http`, 443 for `https`.
  public let description: String

  /// Parses an origin and normalizes it as browsers do (RFC 6454, section 6.2).
  ///
  /// Letters become lower case. A slash at the end is removed, and so is the scheme's usual port.
  /// `null` is the origin of a page that the browser has opened from a file.
  ///
  /// - Throws: `ConfigurationError` with the text and the expected form.
  public init(parsing text: String) throws(ConfigurationError) {
    if text == "null" {
      description = text
      return
    }
    let mistake = ConfigurationError(
      "'\(text)' is not the origin of a web page; expected a scheme, a host and perhaps a port, "
        + "such as https://app.example.com or http://localhost:8080")
    var rest = text.lowercased()
    if rest.hasSuffix("/") { rest.removeLast() }
    guard let parts = URLComponents(string: rest), let scheme = parts.scheme,
      let host = parts.encodedHost, !host.isEmpty, parts.path.isEmpty, parts.query == nil,
      parts.fragment == nil, parts.user == nil, !host.contains("%"),
      rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw mistake }
    let usual = ["http": 80, "https": 443][scheme]
    let port = parts.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
    description = "\(scheme)://\(host)\(port)"
  }
}
