import Testing

@testable import OutboundHTTP

@Suite struct AddressRulesTests {
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
    #expect(AddressRules.refused.count == 27)
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
