import Foundation
import HTTPService
import Synchronization
import Testing
import Waiting

/// Requests whose heads are decided about before their bodies are received.
struct HeadDecisionTests {
  /// Runs a server that refuses `/no` from the head, and answers others with the size of the body.
  private func withExaminingServer(
    _ configure: (inout HTTPServer.Configuration) -> Void = { _ in },
    examined: Tally = Tally(), gate: Gate? = nil, body: (HTTPServer) async throws -> Void
  ) async throws {
    var configuration = HTTPServer.Configuration()
    configuration.smallBodySize = 100
    configure(&configuration)
    let server = HTTPServer(configuration: configuration) { head in
      examined.add()
      await gate?.wait()
      if head.path == "/no" {
        return .answer(HTTPResponse(status: 403, body: .data(Data("no".utf8))))
      }
      let isAlone = head.body.isEmpty && head.bodyFile == nil
      return .receive { request in
        let size = request.bodyFile?.size ?? request.body.count
        return HTTPResponse(body: .data(Data("\(size) \(isAlone)".utf8)))
      }
    }
    try server.start()
    do {
      try await body(server)
    } catch {
      await server.stop(within: .zero)
      throw error
    }
    await server.stop(within: .zero)
  }

  private func head(_ path: String, _ fields: String) -> String {
    "POST \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
  }

  private func bytes(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test("a large body, a chunked one and one for a file are examined by their heads, once")
  func heads() async throws {
    let examined = Tally()
    try await withExaminingServer(examined: examined) { server in
      let client = try RawClient(port: server.port)
      try await client.send(head("/a", "Content-Length: 100\r\n") + bytes(100))
      #expect(try await client.response().text == "100 false")
      try await client.send(head("/a", "Content-Length: 5000\r\n") + bytes(5000))
      #expect(try await client.response().text == "5000 true")
      try await client.send(
        head("/a", "Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n0\r\n\r\n")
      #expect(try await client.response().text == "3 true")
      try await client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.response().text == "0 true")
      #expect(examined.value == 4)
      #expect(server.metrics.requestsUnderWay == 0 || server.metrics.requestsServed >= 3)
    }
  }

  @Test("a refused request gets its answer after its body, of which no byte is kept")
  func refused() async throws {
    try await withExaminingServer { server in
      let client = try RawClient(port: server.port)
      for fields in ["Content-Length: 300000\r\n", "Content-Length: 1000\r\n"] {
        let count = fields.contains("300000") ? 300_000 : 1000
        try await client.send(head("/no", fields) + bytes(count / 2))
        try await eventually("the request is under way") { server.metrics.requestsUnderWay == 1 }
        #expect(server.metrics.bufferedBytes == 0)
        try await client.send(bytes(count / 2))
        let response = try await client.response()
        #expect(response.status == 403 && response.text == "no")
      }
      try await eventually("both are served") { server.metrics.requestsServed == 2 }
      // The connection lives on.
      try await client.send(head("/a", "Content-Length: 1000\r\n") + bytes(1000))
      #expect(try await client.response().text == "1000 true")
    }
  }

  @Test("a client that waits for leave to send gets the refusal instead, or the leave")
  func expectation() async throws {
    try await withExaminingServer { server in
      let refused = try RawClient(port: server.port)
      try await refused.send(head("/no", "Content-Length: 1000\r\nExpect: 100-continue\r\n"))
      #expect(try await refused.response().status == 403)
      #expect(try await refused.isClosedByServer())
      let welcome = try RawClient(port: server.port)
      try await welcome.send(head("/a", "Content-Length: 1000\r\nExpect: 100-continue\r\n"))
      #expect(try await welcome.response(hasBody: false).status == 100)
      try await welcome.send(bytes(1000))
      #expect(try await welcome.response().text == "1000 true")
    }
  }

  @Test("no file is made for a body before the decision, nor after a refusal")
  func files() async throws {
    let directory = NSTemporaryDirectory() + "petrel-heads-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let files = { try FileManager.default.contentsOfDirectory(atPath: directory).count }
    let gate = Gate()
    let configure: (inout HTTPServer.Configuration) -> Void = {
      $0.isProxy = { _ in true }
      $0.rules = { _, _ in RequestRules(body: .file) }
      $0.spooling = .init(directory: directory, maximumBodySize: 100_000)
    }
    try await withExaminingServer(configure, gate: gate) { server in
      let refused = try RawClient(port: server.port)
      try await refused.send(head("/no", "Content-Length: 50000\r\n") + bytes(40_000))
      let stored = try RawClient(port: server.port)
      try await stored.send(head("/a", "Content-Length: 50\r\n") + bytes(20))
      try await eventually("both are examined") { gate.waitingCount == 2 }
      #expect(try files() == 0)
      gate.open()
      try await eventually("one is stored") { server.metrics.spooledBytes == 20 }
      #expect(try files() == 1)
      try await refused.send(bytes(10_000))
      #expect(try await refused.response().status == 403)
      try await stored.send(bytes(30))
      #expect(try await stored.response().text == "50 true")
    }
  }

  @Test("an empty body for a file is examined and answered")
  func emptyFile() async throws {
    try await withExaminingServer {
      $0.rules = { _, _ in RequestRules(body: .file) }
      $0.spooling = .init(directory: NSTemporaryDirectory(), maximumBodySize: 100)
    } body: { server in
      let client = try RawClient(port: server.port)
      try await client.send(head("/a", "Content-Length: 0\r\n"))
      #expect(try await client.response().text == "0 true")
      try await client.send(head("/no", "Content-Length: 0\r\n"))
      #expect(try await client.response().status == 403)
    }
  }

  @Test("a client that leaves while its head is examined ends the examination")
  func leaving() async throws {
    let gate = Gate()
    try await withExaminingServer(gate: gate) { server in
      let client = try RawClient(port: server.port)
      try await client.send(head("/a", "Content-Length: 1000\r\n"))
      try await eventually("it is examined") { gate.waitingCount == 1 }
      client.close()
      try await eventually("the examination is cancelled") { gate.waitingCount == 0 }
      try await eventually("the connection is gone") { server.metrics.openConnections == 0 }
    }
  }

  @Test("a server that stops refuses a request whose head is being examined")
  func stopping() async throws {
    let gate = Gate()
    try await withExaminingServer(gate: gate) { server in
      let client = try RawClient(port: server.port)
      try await client.send(head("/a", "Content-Length: 1000\r\n"))
      try await eventually("it is examined") { gate.waitingCount == 1 }
      await server.stop(within: .zero)
      #expect(try await client.response().status == 503)
    }
  }

  @Test("a large body for a path that takes only small ones is refused by its head")
  func smallBodies() async throws {
    let examined = Tally()
    let configure: (inout HTTPServer.Configuration) -> Void = {
      $0.rules = { _, path in RequestRules(body: path == "/form" ? .small : .large) }
    }
    try await withExaminingServer(configure, examined: examined) { server in
      let client = try RawClient(port: server.port)
      try await client.send(head("/form", "Content-Length: 1000\r\n"))
      #expect(try await client.response().status == 413)
      #expect(examined.value == 0)
    }
  }
}
