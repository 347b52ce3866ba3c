import CloudKitModel
import Foundation

/// The URL that opens an app for an accepted share, with places for the share's link.
///
/// ```swift
/// AppLink("notes://shared/{guid}")?.url(shortGUID: "Ab-1", shareURL: "https://…")
/// // notes://shared/Ab-1
/// ```
public struct AppLink: Sendable, Hashable {
  /// The rule for the text, as the end of a sentence.
  static let rule =
    "must be an https: URL, or a URL with a scheme of the app, with no other places than {guid} and {url}"

  /// The text with its places.
  public let template: String

  /// Creates a link from the text of the configuration.
  ///
  /// The result is nil for a text that is no absolute URL in ASCII, and for a URL that browsers do not
  /// pass to an app. A place must be known, and cannot be in the scheme or in the host of a web page.
  /// A web page without TLS must be on this machine.
  public init?(_ template: String) {
    let places = template.replacing("{guid}", with: "x").replacing("{url}", with: "x")
    guard places.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      !places.contains(/[{}"'<>\\^`|]/), let components = URLComponents(string: places),
      let scheme = components.scheme?.lowercased(), template.lowercased().hasPrefix(scheme + ":"),
      !Self.schemesOfBrowsers.contains(scheme)
    else { return nil }
    if ["http", "https"].contains(scheme) {
      guard let host = components.encodedHost, !host.isEmpty, components.user == nil,
        template.lowercased().hasPrefix("\(scheme)://\(host.lowercased())"),
        scheme == "https" || ["localhost", "127.0.0.1", "[::1]"].contains(host)
      else { return nil }
      // A place directly after the host would be a part of the host or of the port.
      let rest = template.dropFirst("\(scheme)://\(host)".count).prefix { !"/?#".contains($0) }
      guard !rest.contains("{") else { return nil }
    }
    self.template = template
  }

  /// The schemes that browsers handle themselves, other than those of web pages. Some of them execute
  /// scripts.
  private static let schemesOfBrowsers: Set = [
    "about", "blob", "chrome", "data", "file", "filesystem", "ftp", "javascript", "vbscript",
    "view-source", "ws", "wss",
  ]

  /// Returns the URL for a share.
  public func url(shortGUID: String, shareURL: String) -> String {
    // The escaped texts have no braces, so the second replacement does not see the first one.
    template.replacing("{guid}", with: Self.escaped(shortGUID))
      .replacing("{url}", with: Self.escaped(shareURL))
  }

  /// Returns a text with each character escaped that has a meaning in URLs (RFC 3986, section 2.3).
  private static func escaped(_ text: String) -> String {
    text.utf8.reduce(into: "") { escaped, byte in
      let character = Character(Unicode.Scalar(byte))
      if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
        escaped.append(character)
      } else {
        escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
  }
}
