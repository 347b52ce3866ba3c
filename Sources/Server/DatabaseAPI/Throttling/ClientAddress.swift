import Foundation
import HTTPService
import OutboundHTTP

/// Where a request comes from, as rates are counted.
package enum ClientAddress {
  /// The address that a request comes from; nil where a proxy sent it that says whose it is, and nobody
  /// told that the proxy is to be believed.
  ///
  /// - Parameter header: as that of ``network(of:header:)``.
  package static func address(of request: HTTPRequest, header: String?) -> IPAddress? {
    if header == nil, isForwarded(request, header: nil) { return nil }
    let text = lastAddress(of: request, header: header) ?? request.remoteAddress
    return IPAddress(withoutPort(text))?.unmapped
  }

  /// Whether a proxy says that it sends the request of another.
  package static func isForwarded(_ request: HTTPRequest, header: String?) -> Bool {
    forwardingHeaders.contains { request.header($0) != nil }
      || header.map { request.header($0) != nil } ?? false
  }

  /// What proxies add to the requests of others.
  private static let forwardingHeaders = [
    "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "X-Real-IP", "Via",
  ]

  /// The network of a request: an IPv4 address, or the first 64 bits of an IPv6 one.
  ///
  /// - Parameter header: the header field that the proxy in front puts the client's address in, if
  ///   there is one. Of several addresses the last one counts, for the client may have sent the
  ///   others itself.
  package static func network(of request: HTTPRequest, header: String?) -> String {
    if let last = lastAddress(of: request, header: header), let network = network(of: last) {
      return network
    }
    return network(of: request.remoteAddress) ?? request.remoteAddress
  }

  private static func lastAddress(of request: HTTPRequest, header: String?) -> String? {
    guard let header else { return nil }
    let field = request.headers.last { $0.name.lowercased() == header.lowercased() }?.value
    // Among bytes: what the client sent may end with a mark that makes one character with the proxy's comma.
    return field?.utf8.split(separator: UInt8(ascii: ",")).last
      .map { String(Substring($0)).trimmingCharacters(in: .whitespaces) }
  }

  /// The network of a numeric address; nil for another text. A port behind it is left out.
  static func network(of text: String) -> String? {
    let text = withoutPort(text)
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 { return text }
    var six = in6_addr()
    guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    let groups = withUnsafeBytes(of: six) { bytes in
      stride(from: 0, to: 8, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
    }
    return groups.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
  }

  private static func withoutPort(_ text: String) -> String {
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      return String(text[text.index(after: text.startIndex)..<end])
    }
    if text.count(where: { $0 == ":" }) == 1, let colon = text.firstIndex(of: ":") {
      return String(text[..<colon])
    }
    return text
  }
}

extension IPAddress {
  /// The IPv4 address that a socket for both families shows as `::ffff:192.0.2.1` (RFC 4291, section
  /// 2.5.5.2).
  fileprivate var unmapped: IPAddress {
    let text = description
    return text.hasPrefix("::ffff:") ? IPAddress(String(text.dropFirst(7))) ?? self : self
  }
}
