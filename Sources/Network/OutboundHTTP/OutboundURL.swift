import Foundation

/// The URL of another server, checked as far as possible without resolving the name of its host.
public struct OutboundURL: Sendable, Hashable, CustomStringConvertible {
  /// The error for a URL that breaks a rule. The description continues a sentence about the URL,
  /// such as "has the port 0; …".
  public struct Flaw: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String
  }

  /// The greatest length of a URL: 2,048 bytes.
  public static let greatestSize = 2048

  /// The text of the URL, unchanged.
  public let description: String
  /// Scheme, host and port in lower case, such as `https://example.com:8443`. The port is missing
  /// if it is the scheme's default (RFC 6454 section 6.2).
  public let origin: String
  /// The host in lower case. An IPv6 address has no brackets here.
  public let host: String

  /// Checks a text and creates the URL.
  ///
  /// - Parameters:
  ///   - allowsHTTP: whether the URL may begin with `http://`, that is, without TLS.
  ///   - rules: the addresses that the URL may contain. The client checks the address of a host
  ///     name when it connects.
  /// - Throws: ``Flaw`` with the broken rule.
  public init(
    _ text: String, allowsHTTP: Bool = false, rules: AddressRules = AddressRules()
  ) throws(Flaw) {
    guard text.utf8.count <= Self.greatestSize else {
      throw Flaw(
        description: "has \(text.utf8.count) bytes; the limit is \(Self.greatestSize)")
    }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased()
    else {
      throw Flaw(
        description: "is not an absolute URL, such as "
          + (allowsHTTP ? "http://127.0.0.1:8080" : "https://example.com"))
    }
    guard scheme == "https" || scheme == "http" && allowsHTTP else {
      throw Flaw(description: "must begin with \(allowsHTTP ? "https:// or http://" : "https://")")
    }
    guard parts.user == nil, parts.password == nil else {
      throw Flaw(description: "must not have a user name or password in it")
    }
    guard parts.fragment == nil else { throw Flaw(description: "must not have a fragment (#)") }
    guard let bracketed = parts.encodedHost?.lowercased(), !bracketed.isEmpty else {
      throw Flaw(description: "has no host")
    }
    let host =
      bracketed.hasPrefix("[") && bracketed.hasSuffix("]")
      ? String(bracketed.dropFirst().dropLast()) : bracketed
    if let port = parts.port, !(1...65_535).contains(port) {
      throw Flaw(description: "has the port \(port); ports are 1 to 65535")
    }
    if let address = IPAddress(host) {
      guard rules.allow(address) else {
        throw Flaw(
          description: "contains the address \(address), which is not a public address; "
            + "the server's operator can allow its range")
      }
    } else {
      try Self.check(name: host)
    }
    let isUsualPort = parts.port == nil || parts.port == (scheme == "https" ? 443 : 80)
    description = text
    self.host = host
    origin = "\(scheme)://\(bracketed)" + (isUsualPort ? "" : ":\(parts.port ?? 0)")
  }

  /// Checks a host name: letters, digits, hyphens, underscores and dots. The part after the last
  /// dot must not consist of digits only or begin with `0x`: resolvers read such names as addresses
  /// in an unusual notation (`0x7f.1`, `2130706433`).
  private static func check(name: String) throws(Flaw) {
    let isName =
      name.utf8.count <= 253
      && name.utf8.allSatisfy { byte in
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E
          || byte == 0x5F
      }
    guard isName else { throw Flaw(description: "'\(name.prefix(80))' is not a host name") }
    let last = name.split(separator: ".").last ?? ""
    let isNumber =
      last.utf8.allSatisfy { (0x30...0x39).contains($0) } || last.hasPrefix("0x")
    guard !isNumber else {
      throw Flaw(
        description: "'\(name.prefix(80))' is not a host name, and not an address in "
          + "the usual notation")
    }
  }
}
