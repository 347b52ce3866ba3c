import Foundation

/// An IPv4 or IPv6 address.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address in network byte order: 4 or 16 bytes.
  public let bytes: [UInt8]

  /// Creates an address from 4 or 16 bytes in network byte order.
  init(bytes: [UInt8]) {
    precondition(bytes.count == 4 || bytes.count == 16)
    self.bytes = bytes
  }

  /// Creates an address from its usual textual forms (inet_pton(3)), such as `10.1.2.3` or
  /// `fd00::1`; `nil` for any other text.
  public init?(_ text: String) {
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      bytes = withUnsafeBytes(of: four) { Array($0) }
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      bytes = withUnsafeBytes(of: six) { Array($0) }
    } else {
      return nil
    }
  }

  init?(_ address: UnsafePointer<sockaddr>) {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
      }
    case AF_INET6:
      bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
      }
    default: return nil
    }
  }

  /// The IPv4 address that a connection to this IPv6 address reaches; `nil` if there is none. There
  /// are three kinds of such IPv6 addresses:
  ///
  /// - Mapped addresses (`::ffff:0:0/96`): the system itself connects over IPv4.
  /// - Addresses of NAT64 (`64:ff9b::/96`): a gateway translates the packets to IPv4.
  /// - Addresses of 6to4 (`2002::/16`): the packets go through a tunnel to the IPv4 address.
  var reachedIPv4: IPAddress? {
    guard bytes.count == 16 else { return nil }
    if Self.lastFour.contains(where: { bytes.starts(with: $0) }) {
      return IPAddress(bytes: Array(bytes.suffix(4)))
    }
    if bytes.starts(with: [0x20, 0x02]) { return IPAddress(bytes: Array(bytes[2..<6])) }
    return nil
  }

  /// The IPv4 address inside an IPv6 address of ISATAP (RFC 5214 section 6.1); `nil` for any other
  /// address. A router of the network may send the packets to this IPv4 address.
  var tunnelledIPv4: IPAddress? {
    guard bytes.count == 16, bytes[8] & 0xFC == 0, bytes[9] == 0,
      bytes[10] == 0x5E, bytes[11] == 0xFE
    else { return nil }
    return IPAddress(bytes: Array(bytes.suffix(4)))
  }

  /// The first 12 bytes of mapped and of NAT64 addresses.
  private static let lastFour: [[UInt8]] = [
    [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF],
    [0x00, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8),
  ]

  public var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
