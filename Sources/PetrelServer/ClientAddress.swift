import Foundation
import HTTPService
import OutboundHTTP

/// Where a request comes from, as rates are counted.
enum ClientAddress {
  /// The address that a request comes from; nil where a proxy sent it that says whose it is, and nobody
  /// told that the proxy is to be believed.
  ///
  /// - Parameter header: as that of ``network(of:header:)``.
  static func address(of request: HTTPRequest, header: String?) -> IPAddress? {
    guard let header else {
      if forwardingHeaders.contains(where: { request.header($0) != nil }) { return nil }
      return parsed(request.remoteAddress)
    }
    guard
      let field = request.headers.last(where: { $0.name.lowercased() == header.lowercased() })
    else { return parsed(request.remoteAddress) }
    return field.value.split(separator: ",").last.flatMap {
      parsed($0.trimmingCharacters(in: .whitespaces))
    }
  }

  /// What proxies add to the requests of others.
  private static let forwardingHeaders = ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"]

  /// An IPv4 address in the form of an IPv6 one is an IPv4 address (RFC 4291, section 2.5.5.2).
  private static func parsed(_ text: String) -> IPAddress? {
    IPAddress(text.lowercased().hasPrefix("::ffff:") ? String(text.dropFirst(7)) : text)
  }

  /// The network of a request: an IPv4 address, or the first 64 bits of an IPv6 one.
  ///
  /// - Parameter header: the header field that the proxy in front puts the client's address in, if
  ///   there is one. Of several addresses the last one counts, for the client may have sent the
  ///   others itself.
  static func network(of request: HTTPRequest, header: String?) -> String {
    if let header,
      let field = request.headers.last(where: {
        $0.name.lowercased() == header.lowercased()
      })?.value,
      let last = field.split(separator: ",").last,
      let network = network(of: last.trimmingCharacters(in: .whitespaces))
    {
      return network
    }
    return network(of: request.remoteAddress) ?? request.remoteAddress
  }

  /// The network of a numeric address; nil for another text. A port behind it is left out.
  static func network(of text: String) -> String? {
    var text = Substring(text)
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      text = text[text.index(after: text.startIndex)..<end]
    } else if text.count(where: { $0 == ":" }) == 1, let colon = text.firstIndex(of: ":") {
      text = text[..<colon]
    }
    var four = in_addr()
    if inet_pton(AF_INET, String(text), &four) == 1 { return String(text) }
    var six = in6_addr()
    guard inet_pton(AF_INET6, String(text), &six) == 1 else { return nil }
    let groups = withUnsafeBytes(of: six) { bytes in
      stride(from: 0, to: 8, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
    }
    return groups.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
  }
}
