import Foundation

/// The URL of another server, checked as far as possible without a look-up of its address.
public struct OutboundURL: Sendable, Hashable, CustomStringConvertible {
  /// The rule that a URL breaks. The description continues a sentence about the URL, such as "has
  /// the port 0; …".
  public struct Flaw: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String
  }

  /// The greatest length of a URL, in bytes.
  public static let greatestSize = 2048

  /// The URL as it was given.
  public let description: String
  /// Scheme, host and port in lower case. The port is left out if it is the scheme's default (RFC
  /// 6454 section 6.2).
  public let origin: String
  /// The host in lower case, without brackets.
  public let host: String

  /// Reads a URL.
  ///
  /// - Parameters:
  ///   - allowsHTTP: whether the URL may be without TLS.
  ///   - rules: the addresses that the URL may name. The address of a host name is checked at the
  ///     time of the connection.
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
    else { throw Flaw(description: "'\(text.prefix(80))' is not an absolute URL") }
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

  /// Checks a host name: letters, digits, hyphens, underscores and dots. A last label of digits
  /// only, or with `0x`, is refused, because resolvers read such names as addresses in one of many
  /// forms (`0x7f.1`, `2130706433`).
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
