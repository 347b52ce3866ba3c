import Foundation

/// The URL of someone else's server, checked so far as it can be without asking for its address.
public struct OutboundURL: Sendable, Hashable, CustomStringConvertible {
  /// What is wrong with a URL.
  public struct Flaw: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String
  }

  /// Bytes of a URL at most.
  public static let greatestSize = 2048

  /// The URL as it was given.
  public let description: String
  /// Scheme, host and port, in lower case, the port only where it is not the scheme's own
  /// (RFC 6454, section 6.2).
  public let origin: String
  /// The host, without brackets.
  public let host: String

  /// Reads a URL.
  ///
  /// - Parameters:
  ///   - allowsHTTP: whether it may be without TLS.
  ///   - rules: which addresses it may name. The address of a named host is looked at when it is
  ///     connected to.
  /// - Throws: ``Flaw`` saying which rule the URL breaks.
  public init(
    _ text: String, allowsHTTP: Bool = false, rules: AddressRules = AddressRules()
  ) throws(Flaw) {
    guard text.utf8.count <= Self.greatestSize else {
      throw Flaw(
        description: "has \(text.utf8.count) bytes; at most \(Self.greatestSize) are taken")
    }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased()
    else { throw Flaw(description: "'\(text.prefix(80))' is no absolute URL") }
    guard scheme == "https" || scheme == "http" && allowsHTTP else {
      throw Flaw(description: "must begin with \(allowsHTTP ? "https:// or http://" : "https://")")
    }
    guard parts.user == nil, parts.password == nil else {
      throw Flaw(description: "must not have a user name or password in it")
    }
    guard parts.fragment == nil else { throw Flaw(description: "must not have a fragment (#)") }
    guard let bracketed = parts.encodedHost?.lowercased(), !bracketed.isEmpty else {
      throw Flaw(description: "names no host")
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
          description: "names the address \(address), which is not one of the public Internet; "
            + "the server's operator may allow its range")
      }
    } else {
      try Self.check(name: host)
    }
    let isUsualPort = parts.port == nil || parts.port == (scheme == "https" ? 443 : 80)
    description = text
    self.host = host
    origin = "\(scheme)://\(bracketed)" + (isUsualPort ? "" : ":\(parts.port ?? 0)")
  }

  /// Checks a host's name: letters, digits, hyphens and dots. A last part of digits only is refused,
  /// for resolvers take such names for addresses in one of many forms (`0x7f.1`, `2130706433`).
  private static func check(name: String) throws(Flaw) {
    let isName =
      name.utf8.count <= 253
      && name.utf8.allSatisfy { byte in
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E
          || byte == 0x5F
      }
    guard isName else { throw Flaw(description: "'\(name.prefix(80))' is no name of a host") }
    let last = name.split(separator: ".").last ?? ""
    let isNumber =
      last.utf8.allSatisfy { (0x30...0x39).contains($0) } || last.hasPrefix("0x")
    guard !isNumber else {
      throw Flaw(
        description: "'\(name.prefix(80))' is no name of a host, and no address in the usual form")
    }
  }
}
