/// Which addresses the server may connect to on behalf of others.
///
/// Who registers a URL must not thereby reach what only the server can reach. So addresses that are
/// not of the public Internet are refused, unless the operator allows their range: the machine
/// itself, private networks, those of providers and links (among them the metadata services of
/// clouds), multicast, and what is reserved (IANA's special-purpose registries, RFC 6890). Of IPv6 only
/// global unicast addresses are left (2000::/3). An address by which one of IPv4 is reached is judged as
/// that one; one that only has one in it, as that one and by itself.
public struct AddressRules: Sendable, Hashable {
  /// Ranges that are allowed although they are not public.
  public var allowed: [IPNetwork]

  public init(allowed: [IPNetwork] = []) {
    self.allowed = allowed
  }

  /// For whom the operator names, who may be on a private network.
  public static let anywhere = AddressRules(
    allowed: ["0.0.0.0/0", "::/0"].compactMap(IPNetwork.init))

  /// Whether the address may be connected to.
  public func allow(_ address: IPAddress) -> Bool {
    if allowed.contains(where: { $0.contains(address) }) { return true }
    if let reached = address.reachedIPv4 { return allow(reached) }
    if let contained = address.tunnelledIPv4, !allow(contained) { return false }
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
    "::/3",  // unspecified, the machine itself, IPv4 in old forms, translation, discarded
    "2001::/23",  // protocol assignments, and Teredo
    "2001:db8::/32",  // documentation
    "3fff::/20",  // documentation
    "4000::/2",  // not assigned, segment routing
    "8000::/1",  // not assigned, unique local, links, site-local, multicast
  ].compactMap(IPNetwork.init)
}
