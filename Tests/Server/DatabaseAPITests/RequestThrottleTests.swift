import CloudKitModel
import HTTPService
import OutboundHTTP
import Testing

@testable import Configuration
@testable import DatabaseAPI

struct RequestThrottleTests {
  private func at(_ seconds: Double) -> Timestamp {
    Timestamp(milliseconds: 1_700_000_000_000).advanced(bySeconds: seconds)
  }

  private func key(_ name: String, _ subject: RequestRate.Subject = .user) -> RequestThrottle.Key {
    RequestThrottle.Key(subject: subject, name: name)
  }

  @Test("a bucket gives its burst at once, then its rate")
  func bucket() {
    let bucket = Bucket(TokenBucket(RequestRate(perSecond: 2, burst: 3), at: at(0)))
    for _ in 0..<3 {
      #expect(bucket.wait(at: at(0)) == 0)
      bucket.take()
    }
    #expect(bucket.wait(at: at(0)) == 0.5)
    #expect(bucket.wait(at: at(0.25)) == 0.25)
    #expect(bucket.wait(at: at(0.5)) == 0)
    bucket.take()
    #expect(bucket.wait(at: at(0.5)) == 0.5)
    // A clock that is set back gives nothing, and takes nothing.
    #expect(bucket.wait(at: at(-100)) == 0.5)
    #expect(bucket.wait(at: at(-99.5)) == 0)
    #expect(!bucket.isFull(at: at(-98.51)))
    #expect(bucket.isFull(at: at(-98)))
    bucket.take()
    #expect(bucket.wait(at: at(1000)) == 0)
  }

  @Test("a request is there when its time has passed, whenever the bucket was last filled")
  func exactTimes() {
    for milliseconds in 0..<1000 {
      let start = at(Double(milliseconds) / 1000)
      let bucket = Bucket(TokenBucket(RequestRate(perSecond: 5, burst: 1), at: start))
      bucket.take()
      #expect(bucket.wait(at: start.advanced(bySeconds: 0.199)) > 0)
      #expect(bucket.wait(at: start.advanced(bySeconds: 0.2)) == 0, "\(milliseconds)")
    }
  }

  @Test("each has a bucket of its own, and subjects without a rate none")
  func separate() {
    let state = Throttle(
      rates: [.user: RequestRate(perSecond: 1, burst: 1)], capacity: 10)
    #expect(state.admit([key("a")], at: at(0)) == nil)
    #expect(state.admit([key("b")], at: at(0)) == nil)
    #expect(state.admit([key("a")], at: at(0))?.wait == 1)
    for _ in 0..<10 { #expect(state.admit([key("a", .address)], at: at(0)) == nil) }
    #expect(state.count == 2)
  }

  @Test("a request that one of its rates refuses counts for none")
  func together() {
    let state = Throttle(
      rates: [
        .user: RequestRate(perSecond: 1, burst: 2),
        .apiToken: RequestRate(perSecond: 0.5, burst: 1),
      ], capacity: 10)
    let keys = [key("a"), key("t", .apiToken)]
    #expect(state.admit(keys, at: at(0)) == nil)
    let refusal = state.admit(keys, at: at(0))
    #expect(refusal?.subject == .apiToken)
    #expect(refusal?.wait == 2)
    #expect(state.admit([key("a")], at: at(0)) == nil)
    #expect(state.admit([key("a")], at: at(0))?.subject == .user)
  }

  @Test("full buckets make room for others; who finds none shares one")
  func capacity() {
    let state = Throttle(
      rates: [.address: RequestRate(perSecond: 1, burst: 2)], capacity: 3)
    for name in ["a", "b", "c"] { #expect(state.admit([key(name, .address)], at: at(0)) == nil) }
    // No bucket is full: the next two share one.
    #expect(state.admit([key("d", .address)], at: at(0)) == nil)
    #expect(state.admit([key("e", .address)], at: at(0)) == nil)
    #expect(state.admit([key("f", .address)], at: at(0)) != nil)
    #expect(state.admit([key("a", .address)], at: at(0)) == nil)
    #expect(state.count == 4)
    // After two seconds all are full and go.
    #expect(state.admit([key("f", .address)], at: at(2)) == nil)
    #expect(state.count == 1)
  }

  @Test(
    "addresses by their networks",
    arguments: [
      ("10.1.2.3", "10.1.2.3"), ("10.1.2.3:4711", "10.1.2.3"),
      ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
      ("[2001:db8:1:2::9]:80", "2001:db8:1:2::/64"), ("::1", "0:0:0:0::/64"), ("unknown", nil),
      ("::ffff:192.0.2.1", "192.0.2.1"), ("[::ffff:192.0.2.1]:80", "192.0.2.1"),
      ("", nil), ("10.1.2", nil),
    ] as [(String, String?)])
  func networks(text: String, network: String?) {
    #expect(ClientAddress.network(of: text) == network)
  }

  @Test("the proxy's header counts when it is named, and of it what the proxy wrote")
  func proxies() {
    let request = HTTPRequest(
      method: "GET", target: "/",
      headers: [("X-Forwarded-For", "1.1.1.1, 2.2.2.2"), ("x-forwarded-for", "3.3.3.3, 4.4.4.4 ")],
      remoteAddress: "127.0.0.1")
    #expect(ClientAddress.network(of: request, header: nil) == "127.0.0.1")
    #expect(ClientAddress.network(of: request, header: "X-FORWARDED-FOR") == "4.4.4.4")
    #expect(ClientAddress.network(of: request, header: "X-Real-IP") == "127.0.0.1")
  }

  @Test(
    "whatever the client wrote before what the proxy wrote",
    arguments: ["\u{600}", "9.9.9.9\u{600}", "\u{301}", ",", "[::1", "9.9.9.9,\u{1F468}\u{200D}"])
  func texts(before: String) {
    let request = HTTPRequest(
      method: "GET", target: "/", headers: [("X-Forwarded-For", before + ", 4.4.4.4")],
      remoteAddress: "127.0.0.1")
    #expect(ClientAddress.network(of: request, header: "X-Forwarded-For") == "4.4.4.4")
    #expect(ClientAddress.address(of: request, header: "X-Forwarded-For") == IPAddress("4.4.4.4"))
  }
}

/// A bucket that expectations can change.
private final class Bucket {
  private var bucket: TokenBucket

  init(_ bucket: TokenBucket) { self.bucket = bucket }

  func wait(at now: Timestamp) -> Double { bucket.wait(at: now) }
  func take() { bucket.take() }
  func isFull(at now: Timestamp) -> Bool { bucket.isFull(at: now) }
}

/// The same for the throttle.
private final class Throttle {
  private var state: RequestThrottle.State

  init(rates: [RequestRate.Subject: RequestRate], capacity: Int) {
    state = RequestThrottle.State(rates: rates, capacity: capacity)
  }

  var count: Int { state.count }

  func admit(
    _ keys: [RequestThrottle.Key], at now: Timestamp
  ) -> RequestThrottle.State.Refusal? {
    state.admit(keys, at: now)
  }
}
