import Foundation
import HTTPService
import Synchronization
import Testing
import Waiting

struct StreamTests {
  private let get = "GET /s HTTP/1.1\r\nHost: h\r\n\r\n"

  @Test("headers come at once and every chunk when it is written")
  func chunks() async throws {
    let gates = [Gate(), Gate()]
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
      HTTPResponse(
        headers: [("Content-Type", "text/event-stream")],
        body: .stream { writer in
          for (number, gate) in gates.enumerated() {
            await gate.wait()
            try await writer.write(Data("data: \(number)\n\n".utf8))
          }
        })
    }
    try await withServer(handler: handler) { server in
      let client = try RawClient(port: server.port)
      try await client.send(get)
      #expect(try await client.head().headers["content-type"] == "text/event-stream")
      for (number, gate) in gates.enumerated() {
        gate.open()
        let chunk = try #require(try await client.chunk())
        #expect(String(decoding: chunk, as: UTF8.self) == "data: \(number)\n\n")
      }
      #expect(try await client.chunk() == nil)
      try await client.send("HEAD /s HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.response(hasBody: false).status == 200)
    }
  }

  @Test("a long stream of an asynchronous sequence arrives whole")
  func sequence() async throws {
    let chunks = (0..<500).map { Data(repeating: UInt8(truncatingIfNeeded: $0), count: $0 * 7) }
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
      let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
      for chunk in chunks { continuation.yield(chunk) }
      continuation.finish()
      return HTTPResponse(body: .stream(of: stream))
    }
    try await withServer(handler: handler) { server in
      let client = try RawClient(port: server.port)
      for _ in 0..<2 {
        try await client.send(get)
        #expect(try await client.response().body == chunks.reduce(Data(), +))
      }
    }
  }

  @Test("a slow reader holds its producer back")
  func backPressure() async throws {
    let total = 64 << 20
    let (written, read) = (Tally(), Tally())
    let furthest = Mutex(0)
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
      HTTPResponse(
        body: .stream { writer in
          for _ in 0..<(total / 65536) {
            try await writer.write(Data(count: 65536))
            written.add(65536)
            let lead = written.value - read.value
            furthest.withLock { $0 = max($0, lead) }
          }
        })
    }
    try await withServer(handler: handler) { server in
      let client = try RawClient(port: server.port, receiveBuffer: 8192)
      try await client.send(get)
      _ = try await client.head()
      while let chunk = try await client.chunk() { read.add(chunk.count) }
      #expect(read.value == total)
      // No further ahead than the buffers are large: the stream's, and those of the sockets.
      let lead = furthest.withLock { $0 }
      #expect(lead < total / 2, "\(lead)")
    }
  }

  @Test("a producer that fails breaks the connection instead of ending the body")
  func failure() async throws {
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
      HTTPResponse(
        body: .stream { writer in
          try await writer.write(Data("x".utf8))
          throw CocoaError(.fileReadUnknown)
        })
    }
    try await withServer(handler: handler) { server in
      let client = try RawClient(port: server.port)
      try await client.send(get)
      await #expect(throws: RawClient.Failure.self) { try await client.response() }
      try await eventually("it counts as broken") { server.metrics.requestsBroken == 1 }
    }
  }

  @Test(
    "when the reader leaves, a producer that writes gets an error and one that waits is cancelled")
  func readerLeaves() async throws {
    let failures = Tally()
    let cancelled = Tally()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
      HTTPResponse(
        body: .stream { writer in
          if request.path == "/wait" {
            await Gate().wait()
            if Task.isCancelled { cancelled.add() }
          } else {
            do {
              while true { try await writer.write(Data(count: 1000)) }
            } catch {
              failures.add()
            }
          }
        })
    }
    try await withServer(handler: handler) { server in
      for path in ["/write", "/wait"] {
        let client = try RawClient(port: server.port)
        try await client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try await client.head()
        client.close()
      }
      try await eventually("both producers notice") { failures.value == 1 && cancelled.value == 1 }
      try await eventually("the connections are gone") { server.metrics.openConnections == 0 }
    }
  }

  @Test("HEAD does not run the producer")
  func head() async throws {
    let runs = Tally()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
      HTTPResponse(body: .stream { _ in runs.add() })
    }
    try await withServer(handler: handler) { server in
      let client = try RawClient(port: server.port)
      try await client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
      let response = try await client.response(hasBody: false)
      #expect(response.status == 200)
      #expect(response.headers["content-length"] == nil)
      #expect(try await client.isClosedByServer())
      #expect(runs.value == 0)
    }
  }

  @Test("a status that has no body does not run the producer", arguments: [204, 304])
  func noBody(status: Int) async throws {
    let runs = Tally()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
      HTTPResponse(status: status, body: .stream { _ in runs.add() })
    }
    try await withServer(handler: handler) { server in
      let client = try RawClient(port: server.port)
      try await client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      #expect(try await client.response(hasBody: false).status == status)
      #expect(try await client.isClosedByServer())
      #expect(runs.value == 0)
    }
  }

  @Test("an HTTP/1.0 client reads until the connection closes")
  func oldClient() async throws {
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
      HTTPResponse(body: .stream { try await $0.write(Data("old\r\n\r\n".utf8)) })
    }
    try await withServer(handler: handler) { server in
      let client = try RawClient(port: server.port)
      try await client.send("GET / HTTP/1.0\r\n\r\n")
      #expect(try await client.head().headers["transfer-encoding"] == nil)
    }
  }
}
