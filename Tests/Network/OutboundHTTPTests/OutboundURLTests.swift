import OutboundHTTP
import Testing

struct OutboundURLTests {
  @Test(
    "a good URL has an origin",
    arguments: [
      ("https://push.example.com/a?b=c", "https://push.example.com", "push.example.com"),
      ("HTTPS://Push.Example.COM:443/", "https://push.example.com", "push.example.com"),
      ("https://push.example.com:8443", "https://push.example.com:8443", "push.example.com"),
      ("https://1.1.1.1/x", "https://1.1.1.1", "1.1.1.1"),
      ("https://[2606:4700::1111]:444/x", "https://[2606:4700::1111]:444", "2606:4700::1111"),
    ])
  func good(_ text: String, origin: String, host: String) throws {
    let url = try OutboundURL(text)
    #expect(url.origin == origin)
    #expect(url.host == host)
    #expect(url.description == text)
  }

  @Test(
    "a bad URL is refused with the rule that it breaks",
    arguments: [
      ("http://example.com/", "must begin with https://"),
      ("ftp://example.com/", "must begin with https://"),
      ("file:///etc/passwd", "must begin with https://"),
      ("/relative", "is not an absolute URL, such as https://example.com"),
      ("", "is not an absolute URL"),
      ("https://exa mple.com/", "is not an absolute URL"),
      ("https://example.com/\r\nX: y", "is not an absolute URL"),
      ("https:///nowhere", "has no host"),
      ("https://user:secret@example.com/", "must not have a user name"),
      ("https://example.com/#part", "must not have a fragment"),
      ("https://127.0.0.1/", "contains the address 127.0.0.1"),
      ("https://[::1]/", "contains the address ::1"),
      ("https://[::ffff:10.0.0.1]/", "contains the address ::ffff:10.0.0.1"),
      ("https://169.254.169.254/latest/meta-data", "contains the address 169.254.169.254"),
      ("https://2130706433/", "not an address in the usual notation"),
      ("https://0x7f.1/", "not an address in the usual notation"),
      ("https://127.1/", "not an address in the usual notation"),
      ("https://0177.0.0.1/", "not an address in the usual notation"),
      ("https://example.0x7f/", "not an address in the usual notation"),
      ("https://%31%32%37.0.0.1/", "is not a host name"),
      ("https://example.com:0/", "has the port 0"),
      ("https://example.com:65536/", "has the port 65536"),
      ("https://example.com/" + String(repeating: "x", count: 2048), "has 2068 bytes"),
    ])
  func bad(_ text: String, flaw: String) {
    let error = #expect(throws: OutboundURL.Flaw.self) { try OutboundURL(text) }
    #expect(error?.description.contains(flaw) == true, "\(error?.description ?? "no error")")
  }

  @Test("plain HTTP and private addresses are taken where they are allowed")
  func allowed() throws {
    let rules = AddressRules(allowed: [try #require(IPNetwork("127.0.0.0/8"))])
    let url = try OutboundURL("http://127.0.0.1:8080/hook", allowsHTTP: true, rules: rules)
    #expect(url.origin == "http://127.0.0.1:8080")
    #expect(try OutboundURL("http://x.example:80", allowsHTTP: true).origin == "http://x.example")
  }
}
