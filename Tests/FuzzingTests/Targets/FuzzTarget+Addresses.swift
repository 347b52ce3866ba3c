import Foundation
import HTTPService
import WebServices

@testable import DatabaseAPI
@testable import HTTP2Transport
@testable import OutboundHTTP

// Where something is, or comes from.
extension FuzzTarget {
  static let addresses = [outboundURLs, networkAddresses, servicePaths]

  private static let outboundURLs = FuzzTarget(
    "outbound-urls", longest: 256,
    words: [
      "https://", "http://", "@", "[::1]", "[::ffff:127.0.0.1]", "127.0.0.1", "0x7f.1",
      "2130706433",
      "localhost", "%2e", "xn--", ":443", ":0", ":65536", "#", "\\", "。", "169.254.169.254",
    ], readsSafeTexts: true
  ) { input in
    let text = input.text
    if let url = read({ try OutboundURL(text, allowsHTTP: true) }) {
      try hold(url.description == text, "a URL stays as it was given")
      try hold(
        url.description.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a URL is one of ASCII")
      if let address = IPAddress(url.host) {
        try hold(AddressRules().allow(address), "\(address) is a public address")
      }
    }
    if let origin = read({ try WebOrigin(parsing: text) }) {
      let again = try must("an origin that was written is read") {
        try WebOrigin(parsing: origin.description)
      }
      try hold(again == origin, "an origin that was written is the same")
    }
    if let proxy = read({ try HTTPProxy(parsing: text) }) {
      let request = proxy.request(host: "push.example", port: 443)
      try hold(
        request.text.components(separatedBy: "\r\n").count <= 6,
        "what a proxy is asked has no lines of others: \(request.text)")
    }
  }

  private static let networkAddresses = FuzzTarget(
    "network-addresses", longest: 128,
    words: ["::", "::ffff:", "fe80::1%eth0", "10.0.0.0/8", "fc00::/7", "[", "]", ":80", ", ", "/"],
    readsSafeTexts: true
  ) { input in
    let text = input.text
    if let address = IPAddress(text) {
      try hold(IPAddress(address.description) == address, "\(address) is the same when it is read")
      _ = AddressRules().allow(address)
    }
    if let network = IPNetwork(text) {
      try hold(network.contains(network.base), "\(network) contains where it begins")
      try hold(IPNetwork(network.description) == network, "\(network) is the same when it is read")
    }
    for header in [nil, "X-Forwarded-For"] {
      let request = HTTPRequest(
        method: "GET", target: "/", headers: [("X-Forwarded-For", text)],
        remoteAddress: header == nil ? text : "::1")
      _ = ClientAddress.address(of: request, header: header)
      let network = ClientAddress.network(of: request, header: header)
      try hold(
        header == nil || ClientAddress.network(of: request, header: header) == network,
        "a client counts with the same network each time")
    }
    let forwarded = HTTPRequest(
      method: "GET", target: "/", headers: [("X-Forwarded-For", text + ", 192.0.2.7")],
      remoteAddress: "::1")
    try hold(
      ClientAddress.network(of: forwarded, header: "X-Forwarded-For") == "192.0.2.7",
      "a client cannot hide what the proxy says of it")
  }

  private static let servicePaths = FuzzTarget(
    "paths", longest: 256,
    words: [
      "/database/1/", "/device/1/", "iCloud.", "/development/", "/public/", "%2f", "%00", "?",
    ], readsSafeTexts: true
  ) { input in
    let text = input.text
    let request = HTTPRequest(method: "GET", target: text)
    _ = (request.path, request.query)
    for path in [text, request.path] {
      guard let path = read({ try ServicePath(parsing: path) }) else { continue }
      try hold(path.container.hasPrefix("iCloud."), "a container's name begins as its kind")
      try hold(
        path.container.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F },
        "a container's name has no control characters")
    }
  }
}
