import Foundation
import Settings

/// The origin of web pages, in the form that browsers send: `https://app.example.com:8443`.
public struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
  public let description: String

  /// Reads an origin. Letters become small, and a slash at the end and the port that the scheme has
  /// anyway are left out, as browsers do (RFC 6454, section 6.2). `null` is the origin of pages
  /// from files.
  ///
  /// - Throws: ``ConfigurationError`` saying what is no origin and why.
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
