import Foundation
import HTTPService
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
import Waiting
#endif

struct RequestTests {
  @Test("an ordinary client gets its answers")
  func urlSession() async throws {
    try await withServer { server in
      let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/a%20b?c=d"))
      let (data, response) = try await URLSession.shared.data(from: url)
      #expect(String(decoding: data, as: UTF8.self) == "GET /a b ")
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
      var post = URLRequest(url: url)
      post.httpMethod = "POST"
      let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      let (echoed, _) = try await URLSession.shared.upload(for: post, from: body)
      #expect(echoed == Data("POST /a b ".utf8) + body)
    }
  }

  @Test("the handler sees the request as it was sent")
  func parts() async throws {
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
      let text = [
        request.rawPath, request.rawQuery ?? "-", request.header("x-THING") ?? "-",
        request.remoteAddress,
      ].joined(separator: "|")
      return HTTPResponse(
        status: 201, headers: [("X-Two", "a"), ("X-Two", "b")], body: .data(Data(text.utf8)))
    }
    try await withServer(handler: handler) { server in
      let client = try RawClient(port: server.port)
      try await client.send("GET /a%2Fb?x=%31 HTTP/1.1\r\nHost: h\r\nX-Thing: some  text \r\n\r\n")
      let response = try await client.response()
      #expect(response.status == 201)
      #expect(response.text == "/a%2Fb|x=%31|some  text|127.0.0.1")
      #expect(response.headers["x-two"] == "a,b")
    }
  }

  @Test("every method reaches the handler", arguments: ["OPTIONS", "PUT", "DELETE", "FROB"])
  func methods(method: String) async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      try await client.send("\(method) /m HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.response().text == "\(method) /m ")
    }
  }

  @Test("HEAD gets the headers of GET and no body")
  func head() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      try await client.send("HEAD /h HTTP/1.1\r\nHost: h\r\n\r\nGET /h HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.response(hasBody: false).headers["content-length"] == "8")
      #expect(try await client.response().text == "GET /h ")
    }
  }

  @Test("a connection is kept alive, and pipelined requests are answered in order")
  func pipelining() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      let requests = (0..<100).map { number in
        number % 3 == 0
          ? "POST /\(number) HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nxy"
          : "GET /\(number) HTTP/1.1\r\nHost: h\r\n\r\n"
      }
      try await client.send(requests.joined())
      for number in 0..<100 {
        let expected = number % 3 == 0 ? "POST /\(number) xy" : "GET /\(number) "
        #expect(try await client.response().text == expected)
      }
      #expect(server.metrics.openConnections == 1)
    }
  }

  @Test("Connection: close is honoured from both sides")
  func close() async throws {
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
      HTTPResponse(headers: request.path == "/close" ? [("Connection", "close")] : [])
    }
    try await withServer(handler: handler) { server in
      let first = try RawClient(port: server.port)
      try await first.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      #expect(try await first.response().headers["connection"] == "close")
      #expect(try await first.isClosedByServer())
      let second = try RawClient(port: server.port)
      try await second.send("GET /close HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await second.response().headers["connection"] == "close")
      #expect(try await second.isClosedByServer())
    }
  }

  @Test("a chunked body is put together")
  func chunked() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      try await client.send(
        "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "3\r\nabc\r\n1;ext=1\r\nd\r\n0\r\nTrailer: x\r\n\r\n")
      #expect(try await client.response().text == "POST /c abcd")
    }
  }

  @Test("a client that expects 100 Continue gets it before its body is read")
  func continues() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      try await client.send(
        "POST /c HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
      #expect(try await client.head().status == 100)
      try await client.send("body")
      #expect(try await client.response().text == "POST /c body")
    }
  }

  @Test("a request may come byte by byte")
  func slowly() async throws {
    try await withServer { server in
      let client = try RawClient(port: server.port)
      for byte in "POST /s HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody".utf8 {
        try await client.send(Data([byte]))
      }
      #expect(try await client.response().text == "POST /s body")
    }
  }

  @Test("clients that leave amid their requests disturb nobody")
  func halfRequests() async throws {
    try await withServer {
      // The library may miss an end that comes together with the last bytes.
      $0.idleTimeout = .seconds(1)
    } body: { server in
      let whole = "POST /s HTTP/1.1\r\nHost: h\r\nContent-Length: 400\r\n\r\nbody"
      for count in stride(from: 0, through: whole.utf8.count, by: 7) {
        let client = try RawClient(port: server.port)
        try await client.send(String(whole.prefix(count)))
        client.close()
      }
      try await eventually("connections are closed") { server.metrics.openConnections == 0 }
      #expect(server.metrics.requestsUnderWay == 0)
      #expect(server.metrics.bufferedBytes == 0)
      let client = try RawClient(port: server.port)
      try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.response().status == 200)
    }
  }

  @Test(
    "what is not HTTP gets 400",
    arguments: [
      "GET / HTTP/1.1\r\n\r\n",
      "GET /\u{E9} HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n",
      "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nxyz",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nnot hex\r\n",
    ])
  func malformed(text: String) async throws {
    let calls = Tally()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
      calls.add()
      return HTTPResponse()
    }
    try await withServer(handler: handler) { server in
      let client = try RawClient(port: server.port)
      try await client.send(text)
      #expect(try await client.response().status == 400)
      #expect(try await client.isClosedByServer())
      #expect(calls.value == 0)
    }
  }

  @Test("a Content-Length that is no number gets 400")
  func malformedLength() async throws {
    try await withServer { server in
      for length in ["two", "-1", "1x", "+1", ""] {
        let client = try RawClient(port: server.port)
        try await client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n")
        #expect(try await client.response().status == 400, "\(length)")
      }
    }
  }

  @Test(
    "an answer that cannot be sent becomes a 500 that says why",
    arguments: [
      HTTPResponse(headers: [("X", "a\r\nSet-Cookie: b")]),
      HTTPResponse(headers: [("X Y", "a")]),
      HTTPResponse(headers: [("X", "a\0b")]),
      HTTPResponse(status: 99),
    ])
  func invalidResponse(response: HTTPResponse) async throws {
    try await withServer { _ in
    } handler: { _ in
      response
    } body: { server in
      let client = try RawClient(port: server.port)
      try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      let answer = try await client.response()
      #expect(answer.status == 500)
      #expect(answer.text.hasPrefix("The answer cannot be sent: "))
      #expect(answer.headers["set-cookie"] == nil)
    }
  }
}
