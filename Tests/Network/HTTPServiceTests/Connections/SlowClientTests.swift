import Foundation
import HTTPService
import Testing
import Waiting

struct SlowClientTests {
  private func limit(_ configuration: inout HTTPServer.Configuration) {
    configuration.idleTimeout = .seconds(20)
    configuration.headTime = .milliseconds(500)
    configuration.rateGrace = .milliseconds(500)
    configuration.minimumRate = 1 << 20
  }

  /// Sends a byte at each look at whether the server has closed the connection: some hundred bytes a second.
  private func drip(_ client: RawClient, to server: HTTPServer) async throws {
    try await eventually("the server closes the connection") {
      do {
        try await client.send("x")
        return false
      } catch is RawClient.Failure {
        return true
      }
    }
    // The server counts after that.
    try await eventually("it is counted") { server.metrics.refused[.tooSlow] == 1 }
  }

  @Test("header fields that drip are cut off")
  func head() async throws {
    try await withServer(limit) { server in
      let client = try RawClient(port: server.port)
      try await client.send("GET / HTTP/1.1\r\nHost: h\r\nX: ")
      try await drip(client, to: server)
      try await eventually("the connection is gone") { server.metrics.openConnections == 0 }
    }
  }

  @Test("a request line that drips is cut off, a connection that is only idle is not")
  func line() async throws {
    try await withServer {
      limit(&$0)
      $0.idleTimeout = .seconds(1)
      $0.headTime = .zero
    } body: { server in
      let client = try RawClient(port: server.port)
      try await client.send("GET /")
      try await drip(client, to: server)
    }
  }

  @Test("a body that drips is cut off, and its memory is free again")
  func body() async throws {
    try await withServer(limit) { server in
      let client = try RawClient(port: server.port)
      try await client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n")
      try await drip(client, to: server)
      try await eventually("the request is gone") {
        server.metrics.requestsUnderWay == 0 && server.metrics.bufferedBytes == 0
      }
      #expect(server.metrics.requestsBroken == 1)
    }
  }

  @Test("an answer that is not taken is cut off")
  func answer() async throws {
    let size = 16 << 20
    try await withServer {
      limit(&$0)
      $0.minimumRate = 1 << 30
    } handler: { _ in
      HTTPResponse(body: .data(Data(count: size)))
    } body: { server in
      let client = try RawClient(port: server.port, receiveBuffer: 4096)
      try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      try await eventually("the answer waits") { server.metrics.bufferedBytes == size }
      try await eventually("the answer is given up, and counted") {
        server.metrics.bufferedBytes == 0 && server.metrics.refused[.tooSlow] == 1
      }
      await #expect(throws: RawClient.Failure.self) { try await client.response() }
    }
  }

  @Test("a handler that takes its time, a stream, and a quick client are left alone")
  func patience() async throws {
    let gate = Gate()
    try await withServer(limit) { request in
      if request.path == "/wait" { await gate.wait() }
      if request.path == "/stream" {
        return HTTPResponse(
          body: .stream { writer in
            try await writer.write(Data("a".utf8))
            await gate.wait()
          })
      }
      return HTTPResponse()
    } body: { server in
      let waiting = try RawClient(port: server.port)
      try await waiting.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
      let stream = try RawClient(port: server.port)
      try await stream.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
      let slow = try RawClient(port: server.port)
      try await slow.send("GET /cut HTTP/1.1\r\nHost: h\r\nX: ")
      try await drip(slow, to: server)
      gate.open()
      #expect(try await waiting.response().status == 200)
      #expect(try await stream.response().text == "a")
      #expect(server.metrics.refused[.tooSlow] == 1)
    }
  }
}
