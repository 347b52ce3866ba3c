/// The rules that decide to which IP addresses the server may connect for its users.
///
/// A user can register a URL, and the server then connects to its host. The user must not use this
/// to reach machines that only the server can reach. So the rules refuse these addresses, which are
/// not public, unless the operator allows their range (IANA's special-purpose registries, RFC
/// 6890):
///
/// - of IPv4: the machine itself, private networks, the shared networks of providers, link-local
///   networks (with the metadata services of clouds), multicast and reserved addresses;
/// - of IPv6: all addresses except global unicast (2000::/3), and a few ranges of those.
///
/// Some IPv6 addresses lead to an IPv4 address (``IPAddress/reachedIPv4``): the rules check the
/// IPv4 address in their place. Others only contain an IPv4 address (``IPAddress/tunnelledIPv4``):
/// the rules must allow both addresses.
public struct AddressRules: Sendable, Hashable {
  /// The ranges that are allowed although they are not public.
  public var allowed: [IPNetwork]

  /// Creates rules that allow public addresses and the addresses of these ranges.
  public init(allowed: [IPNetwork] = []) {
    self.allowed = allowed
  }

  /// The rules that allow every address. They are for servers that the operator names, which may be
  /// on a private network.
  public static let anywhere = AddressRules(
    allowed: ["0.0.0.0/0", "::/0"].compactMap(IPNetwork.init))

  /// Whether the server may connect to the address.
  ///
  /// - Complexity: O(*n*), where *n* is the number of ranges in ``allowed``.
  public func allow(_ address: IPAddress) -> Bool {
    if allowed.contains(where: { $0.contains(address) }) { return true }
    if let reached = address.reachedIPv4 { return allow(reached) }
    if let contained = address.tunnelledIPv4, !allow(contained) { return false }
    return !Self.refused.contains { $0.contains(address) }
  }

  /// The ranges that are not public. `compactMap` skips an invalid text, so a test checks that
  /// every text here is a valid range.
  static let refused = [
    "0.0.0.0/8",  // this network
    "10.0.0.0/8",  // private
    "100.64.0.0/10",  // shared address space of providers
    "127.0.0.0/8",  // the machine itself
    "169.254.0.0/16",  // links, and metadata services
    "172.16.0.0/12",  // private
    "192.0.0.0/24",  // protocol assignments
    "192.0.2.0/24",  // documentation
    "192.88.99.0/24",  // relays of 6to4
    "192.168.0.0/16",  // private
    "198.18.0.0/15",  // benchmarks
    "198.51.100.0/24",  // documentation
    "203.0.113.0/24",  // documentation
    "224.0.0.0/4",  // multicast
    "240.0.0.0/4",  // reserved, and broadcast
    "::/3",  // unspecified, the machine itself, IPv4 in old forms, translation, discarded
    "2001::/23",  // protocol assignments, and Teredo
    "2001:db8::/32",  // documentation
    "3fff::/20",  // documentation
    "4000::/2",  // not assigned, segment routing
    "8000::/1",  // not assigned, unique local, links, site-local, multicast
  ].compactMap(IPNetwork.init)
}
