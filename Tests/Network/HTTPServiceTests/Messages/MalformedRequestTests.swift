import Foundation
import HTTPService
import Testing
import Waiting

/// Requests that no decent client sends get one answer at most, and nothing behind them is taken for
/// another request.
struct MalformedRequestTests {
  /// The statuses in what a server sent: one for each head.
  private func statuses(_ text: String) -> [Int] {
    text.matches(of: #/HTTP\/1\.[01] (\d{3})/#).compactMap { Int($0.1) }
  }

  private let next = "GET /next HTTP/1.1\r\nHost: h\r\n\r\n"

  @Test(
    "a Content-Length that is no number gets one head, in the server's own form, and the connection ends",
    arguments: ["-1", "+5", "5, 5", "0x5", "", "5 5", "1e3", "-99999999999999999999"])
  func lengths(length: String) async throws {
    try await withServer {
      $0.refusalBody = { Data("<\($0.reason.rawValue)>".utf8) }
    } body: { server in
      for method in ["POST", "GET"] {
        let client = try RawClient(port: server.port)
        try await client.send(
          "\(method) / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n\(next)")
        let text = try await client.everything()
        #expect(statuses(text) == [400], "\(text)")
        #expect(text.hasSuffix("\r\n\r\n<malformed>"), "\(text)")
        #expect(text.contains("Connection: close\r\n"))
      }
      #expect(server.metrics.refused[.malformed] == 2)
      #expect(server.metrics.requestsServed == 0)
      try await eventually("nothing is left of them") { server.metrics.openConnections == 0 }
    }
  }

  @Test("a Content-Length of twenty digits and more gets 413, in the server's own form")
  func hugeLengths() async throws {
    try await withServer {
      $0.refusalBody = { Data("<\($0.reason.rawValue) \($0.limit ?? 0)>".utf8) }
    } body: { server in
      for length in [
        "18446744073709551616", "99999999999999999999", "9" + String(repeating: "0", count: 80),
      ] {
        let client = try RawClient(port: server.port)
        try await client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n")
        let text = try await client.everything()
        #expect(statuses(text) == [413], "\(text)")
        #expect(text.hasSuffix("<bodyTooLarge 8388608>"), "\(text)")
      }
      // One that the library can read.
      let client = try RawClient(port: server.port)
      try await client.send(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999999999999999\r\n\r\n")
      #expect(statuses(try await client.everything()) == [413])
      #expect(server.metrics.refused[.bodyTooLarge] == 4)
    }
  }

  @Test("so it is when the head comes in pieces, between those of other requests")
  func pieces() async throws {
    try await withServer {
      $0.threads = 1
      $0.refusalBody = { Data("<\($0.reason.rawValue)>".utf8) }
    } body: { server in
      let others = try (0..<20).map { _ in try RawClient(port: server.port) }
      for other in others { try await other.send("POST /other HTTP/1.1\r\nHost: h\r\n") }
      let client = try RawClient(port: server.port)
      try await client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Len")
      let another = try RawClient(port: server.port)
      try await another.send(next)
      #expect(try await another.response().status == 200)
      try await client.send("gth: -1\r\n\r\n")
      let text = try await client.everything()
      #expect(statuses(text) == [400] && text.hasSuffix("<malformed>"), "\(text)")
      for other in others {
        try await other.send("Content-Length: 2\r\n\r\nok")
        #expect(try await other.response().text == "POST /other ok")
      }
      // A connection that was used before.
      try await another.send("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n")
      #expect(statuses(try await another.everything()) == [400])
    }
  }

  @Test(
    "what could be read in two ways gets one answer, and what follows it is not served",
    arguments: [
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: -1\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\nContent-Length: 5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: -1\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\nhello",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nhello",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcdef\r\n0\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nNoColonHere\r\n\r\n",
      "GET / HTTP/1.1\r\n X: folded\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nX\u{0}Y: z\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{7F}b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nX(y): z\r\n\r\n",
      "GET /\r\n\r\n", "GET / HTTP/9.9\r\nHost: h\r\n\r\n", "GET / HTTQ/1.1\r\nHost: h\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
  func ambiguous(request: String) async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      try await client.send(request + next)
      let text = try await client.everything()
      #expect(statuses(text).count == 1 && statuses(text)[0] >= 400, "\(text)")
      #expect(server.metrics.requestsServed == 0)
    }
  }
}
