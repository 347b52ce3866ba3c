import PropertyTesting
import Testing

@testable import OutboundHTTP

struct AddressRulesTests {
  @Test(
    "what is not of the public Internet is refused",
    arguments: [
      "0.0.0.0", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
      "127.255.0.3", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8",
      "192.168.1.1", "198.18.0.1", "198.19.255.255", "203.0.113.7", "224.0.0.1",
      "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "febf::1",
      "fc00::1", "fdff::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1",
      "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1",
      "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::1", "2002:c0a8:101::1", "2001::1",
      "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8", "::8.8.8.8", "2a00:1450::200:5efe:10.0.0.1",
    ])
  func refused(_ text: String) throws {
    #expect(!AddressRules().allow(try #require(IPAddress(text))))
  }

  @Test(
    "what is next to it is allowed",
    arguments: [
      "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
      "128.0.0.1", "169.253.0.1", "172.15.255.255", "172.32.0.0", "192.167.0.1", "192.169.0.1",
      "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8",
      "64:ff9b::808:808", "2002:808:808::1",
    ])
  func allowed(_ text: String) throws {
    #expect(AddressRules().allow(try #require(IPAddress(text))))
  }

  /// IANA's registries of special-purpose addresses (RFC 6890; as of 2024), with those of multicast and of
  /// site-local addresses, and whether they are globally reachable. Those by which an IPv4 address is
  /// reached are apart.
  private static let special: [(range: String, isGlobal: Bool)] = [
    ("0.0.0.0/8", false), ("10.0.0.0/8", false), ("100.64.0.0/10", false), ("127.0.0.0/8", false),
    ("169.254.0.0/16", false), ("172.16.0.0/12", false), ("192.0.0.0/24", false),
    ("192.0.2.0/24", false), ("192.31.196.0/24", true), ("192.52.193.0/24", true),
    ("192.88.99.0/24", false), ("192.168.0.0/16", false), ("192.175.48.0/24", true),
    ("198.18.0.0/15", false), ("198.51.100.0/24", false), ("203.0.113.0/24", false),
    ("224.0.0.0/4", false), ("240.0.0.0/4", false), ("255.255.255.255/32", false),
    ("::/128", false), ("::1/128", false), ("::/96", false), ("::ffff:0:0:0/96", false),
    ("64:ff9b:1::/48", false), ("100::/64", false), ("100:0:0:1::/64", false), ("2001::/23", false),
    ("2001::/32", false), ("2001:2::/48", false), ("2001:10::/28", false), ("2001:db8::/32", false),
    ("2620:4f:8000::/48", true), ("3fff::/20", false), ("5f00::/16", false), ("fc00::/7", false),
    ("fe80::/10", false), ("fec0::/10", false), ("ff00::/8", false),
  ]

  private static func random(
    in network: IPNetwork, _ random: inout SeededGenerator
  ) -> IPAddress {
    var bytes = network.base.bytes
    for bit in network.prefixLength..<bytes.count * 8 where random.chance(1, in: 2) {
      bytes[bit / 8] |= 0x80 >> UInt8(bit % 8)
    }
    return IPAddress(bytes: bytes)
  }

  /// The ways to write an IPv4 address as one of IPv6 by which it is reached.
  private static func disguises(of four: IPAddress, _ random: inout SeededGenerator) -> [IPAddress]
  {
    let noise = (0..<10).map { _ in UInt8.random(in: 0...255, using: &random) }
    return [
      [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + four.bytes,
      [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8) + four.bytes,
      [0x20, 0x02] + four.bytes + noise,
    ].map { IPAddress(bytes: $0) }
  }

  @Test("no special-purpose address is allowed that is not reachable from everywhere")
  func registries() throws {
    var random = SeededGenerator(seed: 6890)
    let rules = AddressRules()
    for (range, isGlobal) in Self.special {
      let network = try #require(IPNetwork(range), "\(range)")
      for _ in 0..<200 {
        let address = Self.random(in: network, &random)
        #expect(rules.allow(address) == isGlobal, "\(address) of \(range)")
        guard address.bytes.count == 4 else { continue }
        for disguise in Self.disguises(of: address, &random) {
          #expect(rules.allow(disguise) == isGlobal, "\(disguise) for \(address)")
        }
        // Forms by which no public address is reached either.
        for prefix in ["::", "::ffff:0:"] {
          let old = try #require(IPAddress(prefix + address.description))
          #expect(!rules.allow(old), "\(old)")
        }
        // An interface identifier of ISATAP in a public network.
        for first: [UInt8] in [[0, 0], [2, 0]] {
          let isatap = IPAddress(
            bytes: [0x2A, 0, 0x14, 0x50, 0, 0, 0, 1] + first + [0x5E, 0xFE] + address.bytes)
          #expect(rules.allow(isatap) == isGlobal, "\(isatap)")
        }
      }
    }
  }

  @Test("addresses of no registry are allowed where they are global unicast, and nowhere else")
  func others() throws {
    var random = SeededGenerator(seed: 4291)
    let rules = AddressRules()
    let special = try Self.special.map { (try #require(IPNetwork($0.range)), $0.isGlobal) }
    let unicast = try #require(IPNetwork("2000::/3"))
    for count in [4, 16] {
      for _ in 0..<20_000 {
        let address = IPAddress(
          bytes: (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
        guard !special.contains(where: { $0.0.contains(address) }), address.reachedIPv4 == nil
        else { continue }
        #expect(rules.allow(address) == (count == 4 || unicast.contains(address)), "\(address)")
      }
    }
  }

  @Test("an address with a scope is read by nobody")
  func scopes() {
    for text in ["fe80::1%lo", "fe80::1%25lo", "::1%1", "2606:4700::1111%eth0", "127.0.0.1%lo"] {
      #expect(IPAddress(text) == nil, "\(text)")
      #expect(IPNetwork(text) == nil, "\(text)")
    }
  }

  @Test("a range that the operator allows is allowed, and no other")
  func configured() throws {
    let rules = AddressRules(allowed: [try #require(IPNetwork("10.1.0.0/16"))])
    #expect(rules.allow(try #require(IPAddress("10.1.2.3"))))
    #expect(rules.allow(try #require(IPAddress("::ffff:10.1.2.3"))))
    #expect(!rules.allow(try #require(IPAddress("10.2.0.1"))))
    #expect(!rules.allow(try #require(IPAddress("127.0.0.1"))))
  }

  @Test("every range that is refused is written rightly")
  func list() {
    #expect(AddressRules.refused.count == 21)
  }

  @Test("ranges are read with and without a prefix length, and others are not")
  func networks() throws {
    #expect(IPNetwork("10.0.0.0/8")?.description == "10.0.0.0/8")
    #expect(IPNetwork("127.0.0.1")?.description == "127.0.0.1/32")
    #expect(IPNetwork("::1")?.description == "::1/128")
    #expect(IPNetwork("0.0.0.0/0")?.contains(try #require(IPAddress("8.8.8.8"))) == true)
    #expect(IPNetwork("0.0.0.0/0")?.contains(try #require(IPAddress("::1"))) == false)
    for text in [
      "", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0/8",
      "localhost", "fe80::1/10", "::/129", "10.0.0.0/+8",
    ] {
      #expect(IPNetwork(text) == nil, "\(text)")
    }
  }
}
