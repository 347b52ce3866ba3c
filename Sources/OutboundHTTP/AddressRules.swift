/// Which addresses the server may connect to on behalf of others.
///
/// Who registers a URL must not thereby reach what only the server can reach. So addresses that are
/// not of the public Internet are refused, unless the operator allows their range: the machine
/// itself, private networks, those of providers and links (among them the metadata services of
/// clouds), multicast, and what is reserved (IANA's special-purpose registries, RFC 6890). An IPv6
/// address that stands for one of IPv4 is judged as that one.
public struct AddressRules: Sendable, Hashable {
  /// Ranges that are allowed although they are not public.
  public var allowed: [IPNetwork]

  public init(allowed: [IPNetwork] = []) {
    self.allowed = allowed
  }

  /// Whether the address may be connected to.
  public func allow(_ address: IPAddress) -> Bool {
    if allowed.contains(where: { $0.contains(address) }) { return true }
    if let inner = address.embeddedIPv4 { return allow(inner) }
    return !Self.refused.contains { $0.contains(address) }
  }

  /// Every text here is a range, as a test checks.
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
    "::/128",  // unspecified
    "::1/128",  // the machine itself
    "64:ff9b:1::/48",  // translation within a network
    "100::/64",  // discarded
    "2001::/23",  // protocol assignments, and Teredo
    "2001:db8::/32",  // documentation
    "3fff::/20",  // documentation
    "5f00::/16",  // segment routing
    "fc00::/7",  // unique local
    "fe80::/10",  // links
    "fec0::/10",  // site-local, formerly
    "ff00::/8",  // multicast
  ].compactMap(IPNetwork.init)
}
