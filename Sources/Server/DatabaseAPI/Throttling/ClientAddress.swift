import Foundation
import HTTPService
import OutboundHTTP

/// The address of the client that sent a request. The server counts the requests of unknown callers
/// by address.
package enum ClientAddress {
  /// Returns the IP address of the client; nil if it is not known.
  ///
  /// The address is not known if a proxy has forwarded the request and `header` is nil, or if the
  /// text that is found is no IP address.
  ///
  /// - Parameter header: the header field in which the proxy in front of the server writes the
  ///   client's address; nil if there is no such proxy.
  package static func address(of request: HTTPRequest, header: String?) -> IPAddress? {
    if header == nil, isForwarded(request, header: nil) { return nil }
    let text = lastAddress(in: request.headers, header: header) ?? request.remoteAddress
    return IPAddress(withoutPort(text))?.unmapped
  }

  /// Returns the address of the client that a proxy wrote in the header fields of its request; nil
  /// if `header` is nil, or if the fields have no address there.
  package static func forwarded(
    in headers: [(name: String, value: String)], header: String?
  ) -> IPAddress? {
    lastAddress(in: headers, header: header).flatMap { IPAddress(withoutPort($0))?.unmapped }
  }

  /// Whether the request has a header field that proxies add to the requests of their clients, or
  /// the field `header`.
  package static func isForwarded(_ request: HTTPRequest, header: String?) -> Bool {
    forwardingHeaders.contains { request.header($0) != nil }
      || header.map { request.header($0) != nil } ?? false
  }

  /// The header fields that proxies add to requests of their clients.
  private static let forwardingHeaders = [
    "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "X-Real-IP", "Via",
  ]

  /// Returns the network of a request's client: an IPv4 address, or the first 64 bits of an IPv6
  /// address, such as `2001:db8:0:0::/64`. One customer usually has a whole /64 network.
  ///
  /// - Parameter header: the header field in which the proxy in front of the server writes the
  ///   client's address; nil if there is no such proxy. If the field has several addresses, the
  ///   last one counts, because the client may have sent the others itself.
  package static func network(of request: HTTPRequest, header: String?) -> String {
    if let last = lastAddress(in: request.headers, header: header), let network = network(of: last)
    {
      return network
    }
    return network(of: request.remoteAddress) ?? request.remoteAddress
  }

  /// Returns the last address in the proxy's header field; nil if there is none.
  private static func lastAddress(
    in headers: [(name: String, value: String)], header: String?
  ) -> String? {
    guard let header else { return nil }
    let name = header.lowercased()
    let field = headers.last {
      $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name
    }?.value
    // The text is split as bytes: the client's part may end with a combining mark, which forms one
    // character with the proxy's comma.
    return field?.utf8.split(separator: UInt8(ascii: ",")).last
      .map { String(Substring($0)).trimmingCharacters(in: .whitespaces) }
  }

  /// Returns the network of a numeric address; nil for any other text. A port after the address is
  /// ignored.
  static func network(of text: String) -> String? {
    guard let address = IPAddress(withoutPort(text))?.unmapped else { return nil }
    guard address.bytes.count == 16 else { return address.description }
    let groups = stride(from: 0, to: 8, by: 2).map {
      Int(address.bytes[$0]) << 8 | Int(address.bytes[$0 + 1])
    }
    return groups.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
  }

  /// Returns the address without its port: `192.0.2.1:80` and `[2001:db8::1]:80` are understood.
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
  /// The IPv4 address of an IPv4-mapped IPv6 address, such as `::ffff:192.0.2.1` (RFC 4291, section
  /// 2.5.5.2). A socket for both families shows IPv4 addresses in this way.
  fileprivate var unmapped: IPAddress {
    let text = description
    return text.hasPrefix("::ffff:") ? IPAddress(String(text.dropFirst(7))) ?? self : self
  }
}
