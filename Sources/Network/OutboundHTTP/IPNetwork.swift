import Foundation

/// A range of IP addresses, such as `10.0.0.0/8` or `fc00::/7` (CIDR notation, RFC 4632 and RFC
/// 4291 section 2.3).
///
/// ```swift
/// IPNetwork("10.0.0.0/8")!.contains(IPAddress("10.1.2.3")!)  // true
/// ```
public struct IPNetwork: Sendable, Hashable, LosslessStringConvertible {
  /// The first address of the range.
  public let base: IPAddress
  /// The number of leading bits that all addresses of the range share: 0 to 32 for IPv4, 0 to 128
  /// for IPv6.
  public let prefixLength: Int

  /// Creates a range from its text. An address without `/` is a range of one address. The result is
  /// `nil` for any other text, and if ``base`` has a bit after the prefix that is not 0, as in
  /// `10.1.0.0/8`.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let base = IPAddress(String(parts[0])) else { return nil }
    let width = base.bytes.count * 8
    var length = width
    if parts.count == 2 {
      guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(parts[1]),
        number <= width
      else { return nil }
      length = number
    }
    self.base = base
    prefixLength = length
    let hasRest = (length..<width).contains { base.bytes[$0 / 8] & (0x80 >> UInt8($0 % 8)) != 0 }
    if hasRest { return nil }
  }

  /// Whether the address is in the range: it has the same family and the same first
  /// ``prefixLength`` bits.
  public func contains(_ address: IPAddress) -> Bool {
    guard address.bytes.count == base.bytes.count else { return false }
    let whole = prefixLength / 8
    guard address.bytes.prefix(whole) == base.bytes.prefix(whole) else { return false }
    let rest = prefixLength % 8
    guard rest > 0 else { return true }
    return (address.bytes[whole] ^ base.bytes[whole]) >> UInt8(8 - rest) == 0
  }

  public var description: String { "\(base)/\(prefixLength)" }
}
