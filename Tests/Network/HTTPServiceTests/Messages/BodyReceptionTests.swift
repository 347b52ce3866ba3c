import Testing

@testable import HTTPService

struct BodyReceptionTests {
  private func head(_ headers: [(name: String, value: String)] = []) -> RequestHead {
    RequestHead(method: "POST", target: "/", version: "HTTP/1.0", headers: headers)
  }

  @Test("a body of exactly the limit is handled, one byte more is refused at its end")
  func limit() {
    for (count, isHandled) in [(0, true), (10, true), (11, false), (20, false)] {
      var reception = BodyReception(limit: 10)
      #expect(reception.handle(.head(head(), refusal: nil)) == .receive)
      if count > 0 {
        #expect(reception.handle(.bytes(count)) == (isHandled ? .append : .discard))
      }
      #expect((reception.handle(.end) == .handle) == isHandled, "\(count) bytes")
    }
  }

  @Test("beyond twice the limit the connection is closed")
  func close() {
    var reception = BodyReception(limit: 10)
    _ = reception.handle(.head(head(), refusal: nil))
    #expect(reception.handle(.bytes(20)) == .discard)
    #expect(reception.handle(.bytes(1)) == .close)
  }

  @Test("a client that waits for leave to send is refused at once")
  func expectation() {
    var reception = BodyReception(limit: 10)
    let waiting = head([("Content-Length", "11"), ("Expect", "100-Continue")])
    guard case .refuse(let refusal) = reception.handle(.head(waiting, refusal: nil)) else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.reason == .bodyTooLarge)
  }

  @Test("of two reasons the first is given")
  func firstReason() {
    var reception = BodyReception(limit: 10)
    let busy = HTTPRefusal(.tooManyRequests, "busy")
    let large = head([("Content-Length", "15")])
    #expect(reception.handle(.head(large, refusal: busy)) == .discard)
    #expect(reception.handle(.bytes(15)) == .discard)
    #expect(reception.handle(.end) == .refuse(busy))
  }

  @Test("the next request on the connection starts afresh")
  func afresh() {
    var reception = BodyReception(limit: 10)
    _ = reception.handle(.head(head(), refusal: nil))
    _ = reception.handle(.bytes(15))
    #expect(reception.handle(.end) != .handle)
    #expect(reception.handle(.head(head(), refusal: nil)) == .receive)
    #expect(reception.handle(.bytes(10)) == .append)
    #expect(reception.handle(.end) == .handle)
  }

  @Test(
    "headers that leave the body's end open to two readings are malformed",
    arguments: [
      [("Content-Length", "1"), ("Content-Length", "2")],
      [("Content-Length", "1"), ("content-length", "1")],
      [("Transfer-Encoding", "gzip")],
      [("Transfer-Encoding", "gzip, chunked")],
      [("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")],
      [("Content-Length", "1"), ("Transfer-Encoding", "chunked")],
    ])
  func smuggling(headers: [(String, String)]) {
    var reception = BodyReception(limit: 10)
    let head = head(headers.map { (name: $0.0, value: $0.1) })
    guard case .refuse(let refusal) = reception.handle(.head(head, refusal: nil)) else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.reason == .malformed)
  }
}
