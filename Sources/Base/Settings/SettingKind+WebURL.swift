import Foundation

extension SettingKind {
  /// Returns the rule for URLs of web servers that a text breaks; `nil` if it breaks none.
  ///
  /// Such a URL is in visible ASCII. It has the scheme `http` or `https` and a host, and no user, no query
  /// and no fragment.
  static func rule(brokenByWebURL text: String) -> String? {
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
      return "must be in ASCII, with an international host name in its form xn--…"
    }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
      ["http", "https"].contains(scheme), let host = parts.encodedHost, !host.isEmpty
    else { return SettingKind.webURL.rule }
    guard parts.user == nil, parts.password == nil else {
      return "must be a URL without a user name and a password"
    }
    guard parts.query == nil, parts.fragment == nil else {
      return "must be a URL without a query and a fragment (? and #)"
    }
    guard parts.port.map({ (1...65_535).contains($0) }) ?? true else {
      return "must be a URL with a port from 1 to 65535"
    }
    guard isHost(host) else { return "must be a URL with the name or the address of a host" }
    guard
      text.split(separator: "%", omittingEmptySubsequences: false).dropFirst().allSatisfy({
        $0.prefix(2).count == 2 && $0.prefix(2).allSatisfy(\.isHexDigit)
      })
    else { return "must be a URL with two hexadecimal digits after each %" }
    return nil
  }

  /// Whether a text is a host of a URL: an IPv6 address in brackets, an IPv4 address, or a name. The last
  /// part of a name has other characters than digits, because a client would read it as an address.
  private static func isHost(_ host: String) -> Bool {
    if host.hasPrefix("[") {
      var address = in6_addr()
      return host.hasSuffix("]")
        && inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &address) == 1
    }
    var address = in_addr()
    if inet_pton(AF_INET, host, &address) == 1 { return true }
    let name = host.hasSuffix(".") ? host.dropLast() : host[...]
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    return name.utf8.count <= 253
      && labels.allSatisfy { label in
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
          && label.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
              || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "-")
              || byte == UInt8(ascii: "_")
          }
      } && labels.last?.allSatisfy(\.isNumber) == false
  }
}
