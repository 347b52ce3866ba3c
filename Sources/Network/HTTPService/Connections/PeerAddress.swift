import Glibc

/// The origin of a connection, as the limits of connections count it.
///
/// An IPv6 host has a network of 2^64 addresses to itself. So its first 64 bits count as one host,
/// like the 32 bits of an IPv4 address. A provider's customer has up to 2^16 such networks (RFC
/// 6177), so the first 48 bits count as one network, like an IPv4 /24.
struct PeerAddress: Sendable, Hashable {
  /// The leading bits of an address, as a number.
  struct Prefix: Sendable, Hashable {
    var isIPv6: Bool
    var bits: UInt64
  }

  /// An IPv4 address, or the first 64 bits of an IPv6 one.
  var host: Prefix
  /// The first 24 bits of an IPv4 address, or the first 48 of an IPv6 one.
  var network: Prefix

  /// Creates the origin from an address in network byte order.
  ///
  /// - Parameter bytes: 4 or 16 bytes; none for a socket file. An IPv4-mapped IPv6 address (RFC
  ///   4291 section 2.5.5.2) counts as the IPv4 address.
  init(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    let isMapped =
      bytes.count == 16 && bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
    let isIPv6 = bytes.count == 16 && !isMapped
    let bits = (isIPv6 ? bytes.prefix(8) : bytes.suffix(4)).reduce(UInt64(0)) {
      $0 << 8 | UInt64($1)
    }
    host = Prefix(isIPv6: isIPv6, bits: bits)
    network = Prefix(isIPv6: isIPv6, bits: bits >> (isIPv6 ? 16 : 8))
  }

  init(_ address: UnsafePointer<sockaddr>) {
    switch Int32(address.pointee.sa_family) {
    case AF_INET6:
      self = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin6_addr) { PeerAddress($0) }
      }
    case AF_INET:
      self = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin_addr) { PeerAddress($0) }
      }
    default:
      // A socket file has no address.
      self.init([])
    }
  }

  /// Returns the numeric form of a socket's address; empty if it has none. An IPv4-mapped address
  /// is written as IPv4.
  static func text(of address: UnsafePointer<sockaddr>) -> String {
    if Int32(address.pointee.sa_family) == AF_UNIX { return "" }
    let size =
      address.pointee.sa_family == sa_family_t(AF_INET6)
      ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard
      getnameinfo(
        address, socklen_t(size), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0
    else { return "" }
    let text = String(
      decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.hasPrefix("::ffff:") ? String(text.dropFirst(7)) : text
  }
}
