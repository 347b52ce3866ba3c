import Foundation
import HTTPService
import Synchronization
import Testing
import Waiting

struct SpoolingTests {
  private func withSpoolingServer(
    limit: Int = 100_000, total: Int = 1 << 30,
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse,
    body: (HTTPServer, String) async throws -> Void
  ) async throws {
    let directory = NSTemporaryDirectory() + "petrel-spool-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await withServer {
      $0.maximumBodySize = 1000
      // So that no share of an address counts.
      $0.isProxy = { _ in true }
      $0.rules = { method, path in
        RequestRules(body: method == "POST" && path.hasPrefix("/files/") ? .file : .large)
      }
      var spooling = HTTPServer.Spooling(directory: directory, maximumBodySize: limit)
      spooling.maximumSpooledBytes = total
      $0.spooling = spooling
    } handler: {
      await handler($0)
    } body: {
      try await body($0, directory)
    }
  }

  private func post(_ path: String, _ body: Data) -> Data {
    Data("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
  }

  private static let sizeAndSum: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
    // Foundation on Linux keeps 4 KiB for good each time it reads an empty file.
    let bytes = request.bodyFile.flatMap {
      $0.size == 0 ? Data() : FileManager.default.contents(atPath: $0.path)
    }
    let sum = bytes?.reduce(0) { ($0 &* 31) &+ Int($1) } ?? -1
    return HTTPResponse(
      body: .data(Data("\(request.body.count) \(request.bodyFile?.size ?? -1) \(sum)".utf8)))
  }

  @Test("the body of a path that is named so goes to a file, which is gone after the answer")
  func spools() async throws {
    try await withSpoolingServer(handler: Self.sizeAndSum) { server, directory in
      let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      let sum = body.reduce(0) { ($0 &* 31) &+ Int($1) }
      let client = try RawClient(port: server.port)
      for _ in 0..<2 {
        try await client.send(post("/files/a", body))
        #expect(try await client.response().text == "0 100000 \(sum)")
      }
      try await client.send(post("/files/a", Data()))
      #expect(try await client.response().text == "0 0 0")
      try await client.send(post("/other", Data("abc".utf8)))
      #expect(try await client.response().text == "3 -1 -1")
      client.close()
      try await eventually("the files are removed") {
        (try? FileManager.default.contentsOfDirectory(atPath: directory))?.isEmpty ?? false
      }
      try await eventually("no byte is counted") { server.metrics.spooledBytes == 0 }
    }
  }

  @Test("a handler keeps the file by moving it")
  func keeps() async throws {
    let kept = Mutex<String?>(nil)
    try await withSpoolingServer { request in
      let target = (request.bodyFile?.path ?? "") + ".kept"
      try? FileManager.default.moveItem(atPath: request.bodyFile?.path ?? "", toPath: target)
      kept.withLock { $0 = target }
      return HTTPResponse()
    } body: { server, directory in
      let client = try RawClient(port: server.port)
      try await client.send(post("/files/a", Data("hello".utf8)))
      #expect(try await client.response().status == 200)
      client.close()
      try await eventually("the exchange is over") { server.metrics.spooledBytes == 0 }
      let path = try #require(kept.withLock { $0 })
      #expect(FileManager.default.contents(atPath: path) == Data("hello".utf8))
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
    }
  }

  @Test("its own limit counts, and other paths keep theirs")
  func limits() async throws {
    try await withSpoolingServer(handler: Self.sizeAndSum) { server, directory in
      let client = try RawClient(port: server.port)
      try await client.send(post("/files/a", Data(count: 100_001)))
      #expect(try await client.response().status == 413)
      try await client.send(post("/other", Data(count: 1001)))
      #expect(try await client.response().status == 413)
      try await client.send(post("/files/a", Data(count: 100_000)))
      #expect(try await client.response().status == 200)
    }
  }

  @Test("when the files of all requests are too large together, another is refused with 503")
  func total() async throws {
    try await withSpoolingServer(total: 50_000, handler: Self.sizeAndSum) { server, directory in
      let client = try RawClient(port: server.port)
      try await client.send(post("/files/a", Data(count: 50_001)))
      #expect(try await client.response().status == 503)
      #expect(server.metrics.refused[.tooManyBytes] == 1)
      try await eventually("no byte is counted") { server.metrics.spooledBytes == 0 }
      try await client.send(post("/files/a", Data(count: 50_000)))
      #expect(try await client.response().status == 200)
    }
  }

  @Test("a client that leaves in the middle of its body leaves no file")
  func broken() async throws {
    try await withSpoolingServer(handler: Self.sizeAndSum) { server, directory in
      let client = try RawClient(port: server.port)
      try await client.send(
        "POST /files/a HTTP/1.1\r\nHost: h\r\nContent-Length: 90000\r\n\r\n"
          + String(repeating: "x", count: 40_000))
      try await eventually("the bytes arrive") { server.metrics.spooledBytes == 40_000 }
      client.close()
      try await eventually("the file is removed") {
        (try? FileManager.default.contentsOfDirectory(atPath: directory))?.isEmpty ?? false
      }
      try await eventually("no byte is counted") { server.metrics.spooledBytes == 0 }
    }
  }

  @Test("a folder that is not there makes a 503, not a body in memory")
  func noFolder() async throws {
    try await withSpoolingServer(handler: Self.sizeAndSum) { server, directory in
      try FileManager.default.removeItem(atPath: directory)
      let client = try RawClient(port: server.port)
      try await client.send(post("/files/a", Data(count: 10)))
      #expect(try await client.response().status == 503)
      #expect(server.metrics.refused[.bodyNotStored] == 1)
    }
  }

  @Test("a stream of known length has a Content-Length and no chunks; one too short is cut")
  func knownLength() async throws {
    let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 3) })
    let answer = { @Sendable (request: HTTPRequest) in
      let given = request.path == "/short" ? bytes.prefix(1000) : bytes
      return HTTPResponse(
        body: .streamOfLength(bytes.count) { writer in
          for start in stride(from: 0, to: given.count, by: 50_000) {
            try await writer.write(Data(given[start..<min(start + 50_000, given.count)]))
          }
        })
    }
    try await withServer(handler: answer) { server in
      let client = try RawClient(port: server.port)
      for _ in 0..<2 {
        try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let response = try await client.response()
        #expect(response.headers["content-length"] == "300000")
        #expect(response.headers["transfer-encoding"] == nil)
        #expect(response.body == bytes)
      }
      try await client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.response(hasBody: false).headers["content-length"] == "300000")
      try await client.send("GET /short HTTP/1.1\r\nHost: h\r\n\r\n")
      await #expect(throws: RawClient.Failure.self) { try await client.response() }
    }
  }
}
