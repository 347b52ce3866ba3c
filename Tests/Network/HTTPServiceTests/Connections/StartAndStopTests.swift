import Foundation
import HTTPService
import Testing
import Waiting

struct StartAndStopTests {
  private let get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

  private func failure(_ configure: (inout HTTPServer.Configuration) -> Void) -> HTTPServerError? {
    var configuration = HTTPServer.Configuration()
    configure(&configuration)
    let server = HTTPServer(configuration: configuration, handler: echo)
    do {
      try server.start()
      Issue.record("the server started")
      return nil
    } catch {
      return error
    }
  }

  @Test("an address in use is named with its port")
  func addressInUse() async throws {
    try await withServer { server in
      let error = failure { $0.port = server.port }
      #expect(error?.code == .addressInUse)
      #expect(error?.reason.contains("127.0.0.1, port \(server.port)") == true)
    }
  }

  @Test("addresses and limits that make no sense are refused")
  func invalid() {
    #expect(failure { $0.address = "no.such.host.example" }?.code == .invalidAddress)
    #expect(failure { $0.address = "192.0.2.1" }?.code == .invalidAddress)
    #expect(failure { $0.port = 70_000 }?.code == .invalidAddress)
    #expect(failure { $0.threads = 0 }?.code == .invalidConfiguration)
    #expect(failure { $0.idleTimeout = .milliseconds(10) }?.code == .invalidConfiguration)
    #expect(failure { $0.connectionMemory = 100 }?.code == .invalidConfiguration)
    #expect(failure { $0.connectionsByAddress = 0 }?.code == .invalidConfiguration)
    #expect(failure { $0.connectionsByNetwork = 0 }?.code == .invalidConfiguration)
  }

  @Test("a server at :: is reached by IPv4, and sees the plain address")
  func everyAddress() async throws {
    try await withServer {
      $0.address = "::"
    } handler: { request in
      HTTPResponse(body: .data(Data(request.remoteAddress.utf8)))
    } body: { server in
      let client = try RawClient(port: server.port)
      try await client.send(get)
      #expect(try await client.response().text == "127.0.0.1")
    }
  }

  @Test("a stop with a time beyond all clocks waits for what is under way")
  func endlessTime() async throws {
    let server = HTTPServer(configuration: .init(), handler: echo)
    try server.start()
    await server.stop(within: .seconds(Int64.max))
    #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port) }
  }

  @Test("a server starts once, and may be stopped before and twice")
  func once() async throws {
    let server = HTTPServer(configuration: .init(), handler: echo)
    await server.stop(within: .zero)
    try server.start()
    #expect(server.port > 0)
    #expect(throws: HTTPServerError.self) { try server.start() }
    async let first: Void = server.stop(within: .seconds(5))
    async let second: Void = server.stop(within: .seconds(5))
    _ = await (first, second)
    #expect(throws: HTTPServerError.self) { try server.start() }
  }

  @Test("the port is free again after the stop")
  func portIsFree() async throws {
    var configuration = HTTPServer.Configuration()
    for _ in 0..<5 {
      let server = HTTPServer(configuration: configuration, handler: echo)
      try server.start()
      configuration.port = server.port
      let client = try RawClient(port: server.port)
      try await client.send(get)
      #expect(try await client.response().status == 200)
      await server.stop(within: .seconds(1))
      #expect(try await client.isClosedByServer())
      #expect(server.metrics.openConnections == 0)
    }
  }

  @Test("what is under way is finished; what is new is refused")
  func graceful() async throws {
    let gate = Gate()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
      if request.path == "/wait" { await gate.wait() }
      return await echo(request)
    }
    let told = Tally()
    var configuration = HTTPServer.Configuration()
    configuration.onStop = { told.add() }
    let server = HTTPServer(configuration: configuration, handler: handler)
    try server.start()
    let waiting = try RawClient(port: server.port)
    try await waiting.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
    let sending = try RawClient(port: server.port)
    try await sending.send("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nha")
    let idle = try RawClient(port: server.port)
    try await idle.send(get)
    #expect(try await idle.response().status == 200)
    try await eventually("two are under way") {
      gate.waitingCount == 1 && server.metrics.requestsUnderWay == 2
        && server.metrics.requestsServed == 1
    }

    async let stopped: Void = server.stop(within: .seconds(20))
    try await eventually("the application is told") { told.value == 1 }
    #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port) }
    try await idle.send(get)
    let refused = try await idle.response()
    #expect(refused.status == 503)
    #expect(refused.headers["connection"] == "close")
    #expect(refused.text.contains("stopping"))
    try await sending.send("lf")
    let sent = try await sending.response()
    #expect(sent.text == "POST /b half")
    #expect(sent.headers["connection"] == "close")
    gate.open()
    #expect(try await waiting.response().text == "GET /wait ")
    await stopped
    #expect(server.metrics.requestsServed == 3)
    #expect(server.metrics.refused[.stopping] == 1)
    #expect(told.value == 1)
  }

  @Test("long polls and streams that are told of the stop end in their own way")
  func onStop() async throws {
    let gate = Gate()
    var configuration = HTTPServer.Configuration()
    configuration.onStop = { gate.open() }
    let server = HTTPServer(configuration: configuration) { request in
      if request.path == "/poll" {
        await gate.wait()
        return HTTPResponse(status: 204)
      }
      return HTTPResponse(
        body: .stream { writer in
          await gate.wait()
          try await writer.write(Data("bye".utf8))
        })
    }
    try server.start()
    let poll = try RawClient(port: server.port)
    try await poll.send("GET /poll HTTP/1.1\r\nHost: h\r\n\r\n")
    let stream = try RawClient(port: server.port)
    try await stream.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
    _ = try await stream.head()
    try await eventually("both wait") { gate.waitingCount == 2 }
    await server.stop(within: .seconds(20))
    #expect(try await poll.response().status == 204)
    #expect(try await stream.chunk() == Data("bye".utf8))
    #expect(try await stream.chunk() == nil)
    #expect(server.metrics.requestsServed == 2)
  }

  @Test(
    "at the end of the time handlers are cancelled, even stubborn ones get 503, streams are cut")
  func deadline() async throws {
    let gate = Gate()
    let server = HTTPServer(configuration: .init()) { request in
      switch request.path {
      case "/stubborn": await gate.waitStubbornly()
      case "/stream": return HTTPResponse(body: .stream { _ in await gate.waitStubbornly() })
      default: await gate.wait()
      }
      return HTTPResponse(status: 200)
    }
    try server.start()
    var clients: [(String, RawClient)] = []
    for path in ["/stubborn", "/stream", "/obedient"] {
      for _ in 0..<50 {
        let client = try RawClient(port: server.port)
        try await client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
        clients.append((path, client))
      }
    }
    try await eventually("all wait") { gate.waitingCount == 150 }
    await server.stop(within: .milliseconds(50))
    for (path, client) in clients {
      if path == "/stream" {
        _ = try await client.head()
        await #expect(throws: RawClient.Failure.self) { try await client.chunk() }
      } else {
        #expect(try await client.response().status == 503)
      }
    }
    #expect(server.metrics.requestsServed == 0)
    #expect(server.metrics.openConnections == 0)
    gate.open()
  }

  @Test("a stop amid busy clients loses no answer of a request that was taken", arguments: 0..<10)
  func underLoad(round: Int) async throws {
    let handled = Tally()
    let server = HTTPServer(configuration: .init()) { request in
      await Task.yield()
      handled.add()
      return HTTPResponse(body: .data(Data(request.path.utf8)))
    }
    try server.start()
    let port = server.port
    let answered = Tally()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<16 {
        group.addTask {
          while let client = try? RawClient(port: port) {
            for request in 0..<20 {
              let path = "/\(number)/\(request)"
              guard (try? await client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")) != nil,
                let response = try? await client.response(), response.status == 200
              else { break }
              #expect(response.text == path)
              answered.add()
            }
          }
        }
      }
      // The clients end with the server alone.
      do {
        try await eventually("there is load") { handled.value > 200 * (round + 1) }
      } catch {
        Issue.record(error)
      }
      await server.stop(within: .seconds(20))
    }
    #expect(answered.value == handled.value)
    #expect(server.metrics.requestsServed == handled.value)
    #expect(server.metrics.requestsBroken == 0)
  }
}
