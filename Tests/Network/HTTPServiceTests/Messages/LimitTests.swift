import Foundation
import HTTPService
import Testing
import Waiting

struct LimitTests {
  private func post(_ count: Int) -> String {
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\n\r\n"
      + String(repeating: "x", count: count)
  }

  @Test("a body over the limit gets 413 with the configured text, and the connection lives on")
  func bodyTooLarge() async throws {
    try await withServer {
      $0.maximumBodySize = 1000
      $0.refusalBody = { Data("<\($0.reason.rawValue)>".utf8) }
    } body: { server in
      let client = try RawClient(port: server.port)
      try await client.send(post(1001))
      let refused = try await client.response()
      #expect(refused.status == 413)
      #expect(refused.text == "<bodyTooLarge>")
      #expect(refused.headers["content-type"] == "application/json")
      try await client.send(post(1000))
      #expect(try await client.response().status == 200)
      #expect(server.metrics.refused[.bodyTooLarge] == 1)
      #expect(server.metrics.requestsServed <= 1)
    }
  }

  @Test("a body far over the limit is refused before it is sent")
  func bodyFarTooLarge() async throws {
    try await withServer {
      $0.maximumBodySize = 1000
    } body: { server in
      for extra in ["", "Expect: 100-continue\r\n"] {
        let client = try RawClient(port: server.port)
        try await client.send(
          "POST / HTTP/1.1\r\nHost: h\r\n\(extra)Content-Length: 2001\r\n\r\n")
        let response = try await client.response()
        #expect(response.status == 413)
        #expect(
          response.text
            == #"{"reason":"bodyTooLarge","message":"the body is larger than 1000 bytes; send less at a time"}"#
        )
        #expect(try await client.isClosedByServer())
      }
    }
  }

  @Test("a chunked body over the limit gets 413, an endless one is cut off")
  func chunkedTooLarge() async throws {
    try await withServer {
      $0.maximumBodySize = 1000
    } body: { server in
      let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      let chunk = "1f4\r\n" + String(repeating: "x", count: 500) + "\r\n"
      let client = try RawClient(port: server.port)
      try await client.send(head + chunk + chunk + chunk + "0\r\n\r\n")
      #expect(try await client.response().status == 413)
      let endless = try RawClient(port: server.port)
      try await endless.send(head)
      await #expect(throws: RawClient.Failure.self) {
        for _ in 0..<100_000 { try await endless.send(chunk) }
      }
    }
  }

  @Test("requests beyond the limit get 503 and may try again")
  func tooManyRequests() async throws {
    let gate = Gate()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
      if request.path == "/wait" { await gate.wait() }
      return HTTPResponse()
    }
    try await withServer {
      $0.maximumRequestsUnderWay = 2
    } handler: {
      await handler($0)
    } body: { server in
      let waiting = [try RawClient(port: server.port), try RawClient(port: server.port)]
      for client in waiting { try await client.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n") }
      try await eventually("two wait") { gate.waitingCount == 2 }
      let client = try RawClient(port: server.port)
      try await client.send(post(10))
      let refused = try await client.response()
      #expect(refused.status == 503)
      #expect(refused.headers["retry-after"] == "1")
      gate.open()
      for client in waiting { #expect(try await client.response().status == 200) }
      try await eventually("the places are free") { server.metrics.requestsUnderWay == 0 }
      try await client.send(post(10))
      #expect(try await client.response().status == 200)
      #expect(server.metrics.refused[.tooManyRequests] == 1)
    }
  }

  @Test("bodies beyond the memory for all of them get 503")
  func tooManyBytes() async throws {
    let gate = Gate()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
      if request.body.count > 600 { await gate.wait() }
      return HTTPResponse()
    }
    try await withServer {
      $0.maximumBufferedBytes = 1000
      // So that no share of an address counts.
      $0.isProxy = { _ in true }
    } handler: {
      await handler($0)
    } body: { server in
      let first = try RawClient(port: server.port)
      try await first.send(post(700))
      try await eventually("the first is handled") { gate.waitingCount == 1 }
      #expect(server.metrics.bufferedBytes == 700)
      let second = try RawClient(port: server.port)
      try await second.send(post(301))
      #expect(try await second.response().status == 503)
      try await second.send(post(300))
      #expect(try await second.response().status == 200)
      gate.open()
      #expect(try await first.response().status == 200)
      try await eventually("the memory is free") { server.metrics.bufferedBytes == 0 }
      #expect(server.metrics.refused[.tooManyBytes] == 1)
    }
  }

  @Test("header fields over the limit get 431, a target over it 414, and the connection lives on")
  func headLimits() async throws {
    try await withServer {
      $0.maximumTargetSize = 100
      $0.maximumHeaderSize = 200
      $0.refusalBody = { Data("<\($0.reason.rawValue) \($0.limit ?? 0)>".utf8) }
    } body: { server in
      let client = try RawClient(port: server.port)
      // With "Host: h" and the separators it is 200 bytes.
      let fits = String(repeating: "v", count: 186)
      let target = "/" + String(repeating: "t", count: 99)
      try await client.send("GET \(target) HTTP/1.1\r\nHost: h\r\nX: \(fits)\r\n\r\n")
      #expect(try await client.response().status == 200)
      try await client.send("GET / HTTP/1.1\r\nHost: h\r\nX: \(fits)v\r\n\r\n")
      let large = try await client.response()
      #expect(large.status == 431)
      #expect(large.text == "<headersTooLarge 200>")
      try await client.send("GET \(target)t HTTP/1.1\r\nHost: h\r\n\r\n")
      let long = try await client.response()
      #expect(long.status == 414)
      #expect(long.text == "<targetTooLong 100>")
      #expect(server.metrics.refused[.headersTooLarge] == 1)
      #expect(server.metrics.refused[.targetTooLong] == 1)
    }
  }

  @Test(
    "a connection has room for a request line of 8,000 bytes (RFC 9112, section 3), and for 8 KiB of header fields, time and again",
    arguments: [(8_000, 20, 0), (40, 20, 7_000), (1_500, 60, 5_000), (5_000, 25, 5_000)])
  func hasRoomForUsualHeads(target: Int, fields: Int, values: Int) async throws {
    try await withServer { _ in
    } body: { server in
      let client = try RawClient(port: server.port)
      let value = String(repeating: "v", count: values / fields)
      let head = (0..<fields).map { "X-Field-\($0): \(value)\r\n" }.joined()
      let path = "/" + String(repeating: "t", count: target - 1)
      for _ in 0..<3 {
        try await client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\(head)\r\n")
        #expect(try await client.response().status == 200)
      }
    }
  }

  @Test("answers that nobody takes count as buffered, and new requests get 503 meanwhile")
  func untakenAnswers() async throws {
    let size = 16 << 20
    try await withServer {
      $0.maximumBufferedBytes = size
      $0.isProxy = { _ in true }
    } handler: { request in
      HTTPResponse(body: .data(Data(count: request.path == "/large" ? size : 1)))
    } body: { server in
      let reader = try RawClient(port: server.port, receiveBuffer: 4096)
      try await reader.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
      try await eventually("the answer waits") { server.metrics.bufferedBytes == size }
      let client = try RawClient(port: server.port)
      try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.response().status == 503)
      #expect(try await reader.response().body.count == size)
      try await eventually("the answer is gone") { server.metrics.bufferedBytes == 0 }
      try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.response().status == 200)
    }
  }

  @Test("headers too large for the connection's memory get 431, a target too long 414, in HTML")
  func headers() async throws {
    try await withServer { server in
      let value = String(repeating: "v", count: 7_500)
      let fits = try RawClient(port: server.port)
      try await fits.send("GET / HTTP/1.1\r\nHost: h\r\nX: \(value)\r\n\r\n")
      #expect(try await fits.response().status == 200)
      let both = try RawClient(port: server.port)
      try await both.send("GET /\(value) HTTP/1.1\r\nHost: h\r\nX: v\r\n\r\n")
      #expect(try await both.response().status == 200)
      let fields = "ABCD".map { "\($0): \(value)\r\n" }.joined()
      let large = try RawClient(port: server.port)
      try await large.send("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
      let fieldAnswer = try await large.response()
      #expect(fieldAnswer.status == 431)
      #expect(fieldAnswer.text.hasPrefix("<html>"))
      let long = try RawClient(port: server.port)
      try await long.send(
        "GET /\(value)\(value)\(value)\(value) HTTP/1.1\r\nHost: h\r\n\r\n")
      let targetAnswer = try await long.response()
      #expect(targetAnswer.status == 414)
      #expect(targetAnswer.text.hasPrefix("<html>"))
    }
  }

  @Test("a connection that stalls is closed after the idle timeout, a waiting handler is not")
  func idleTimeout() async throws {
    let gate = Gate()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
      await gate.wait()
      return HTTPResponse()
    }
    try await withServer {
      $0.idleTimeout = .seconds(1)
    } handler: {
      await handler($0)
    } body: { server in
      let waiting = try RawClient(port: server.port)
      try await waiting.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      let stalled = try RawClient(port: server.port)
      try await stalled.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf")
      let silent = try RawClient(port: server.port)
      #expect(try await stalled.isClosedByServer())
      #expect(try await silent.isClosedByServer())
      gate.open()
      #expect(try await waiting.response().status == 200)
      #expect(server.metrics.requestsBroken == 1)
    }
  }
}
