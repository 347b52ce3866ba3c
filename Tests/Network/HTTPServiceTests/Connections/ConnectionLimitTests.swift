import Foundation
import HTTPService
import Testing
import Waiting

struct ConnectionLimitTests {
  private static let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

  private func served(_ client: RawClient, _ request: String = get) async throws -> Int {
    try await client.send(request)
    return try await client.response().status
  }

  /// Is served, and waits until the server knows that its answer has gone: from then on the connection is idle.
  private func use(
    _ client: RawClient, of server: HTTPServer, _ request: String = get
  ) async throws {
    #expect(try await served(client, request) == 200)
    try await eventually("the request has ended") { server.metrics.requestsUnderWay == 0 }
  }

  /// Connects, and is served, so that the connection is counted.
  private func connect(_ server: HTTPServer, from source: String) async throws -> RawClient {
    let client = try RawClient(port: server.port, from: source)
    #expect(try await served(client) == 200, "\(source)")
    return client
  }

  private func isRefused(_ server: HTTPServer, from source: String) async throws -> Bool {
    let client = try RawClient(port: server.port, from: source)
    let answer = try await client.response()
    #expect(answer.headers["retry-after"] == "1" && answer.headers["connection"] == "close")
    let isClosed = try await client.isClosedByServer()
    return answer.status == 503 && isClosed
  }

  @Test("an address has so many, and those of others are served")
  func byAddress() async throws {
    try await withServer {
      $0.connectionsByAddress = 2
    } body: { server in
      var held = [
        try await connect(server, from: "127.0.0.2"), try await connect(server, from: "127.0.0.2"),
      ]
      #expect(try await isRefused(server, from: "127.0.0.2"))
      _ = try await connect(server, from: "127.0.0.3")
      #expect(server.metrics.refused[.tooManyConnectionsOfAddress] == 1)
      held.removeLast().close()
      try await eventually("one has a place again") {
        guard let client = try? await connect(server, from: "127.0.0.3") else { return false }
        client.close()
        return server.metrics.openConnections <= 2
      }
      _ = try await connect(server, from: "127.0.0.2")
    }
  }

  @Test("a network of 256 addresses has so many together")
  func byNetwork() async throws {
    try await withServer {
      $0.connectionsByNetwork = 3
    } body: { server in
      var held: [RawClient] = []
      for host in 2...4 { held.append(try await connect(server, from: "127.0.9.\(host)")) }
      #expect(try await isRefused(server, from: "127.0.9.5"))
      held.append(try await connect(server, from: "127.0.8.5"))
      #expect(server.metrics.refused[.tooManyConnectionsOfNetwork] == 1)
    }
  }

  @Test("those of a proxy are of many clients, and do not count for its address")
  func proxies() async throws {
    try await withServer {
      $0.connectionsByAddress = 1
      $0.connectionsByNetwork = 1
      $0.isProxy = { $0 == "127.0.0.9" }
    } body: { server in
      var held: [RawClient] = []
      for _ in 0..<5 { held.append(try await connect(server, from: "127.0.0.9")) }
      held.append(try await connect(server, from: "127.0.0.2"))
      #expect(try await isRefused(server, from: "127.0.0.2"))
    }
  }

  @Test("when all are taken, the one that has been idle for longest makes room")
  func eviction() async throws {
    try await withServer {
      $0.maximumConnections = 4
      $0.reservedConnections = 0
    } body: { server in
      var held: [RawClient] = []
      for host in 2...5 {
        held.append(try RawClient(port: server.port, from: "127.0.0.\(host)"))
        try await use(held[host - 2], of: server)
      }
      // The first is the one that was used last now.
      try await use(held[0], of: server)
      held.append(try await connect(server, from: "127.0.0.6"))
      #expect(try await held[1].isClosedByServer())
      for index in [0, 2, 3, 4] { try await use(held[index], of: server) }
      #expect(server.metrics.connectionsEvicted == 1)
      // One that has sent a part of a head is idle as well.
      try await use(held[2], of: server, Self.get + "GET / HTTP/1.1\r\nHo")
      for index in [0, 3, 4, 3, 4, 0] { try await use(held[index], of: server) }
      held.append(try await connect(server, from: "127.0.0.7"))
      #expect(try await held[2].isClosedByServer())
      #expect(server.metrics.refused[.tooManyConnections] == 0)
    }
  }

  @Test("thousands of idle ones of many addresses keep nobody out")
  func flood() async throws {
    try await withServer {
      $0.maximumConnections = 64
      $0.reservedConnections = 8
    } body: { server in
      var flood: [RawClient] = []
      for number in 0..<600 {
        flood.append(try RawClient(port: server.port, from: "127.0.\(number % 100).7"))
        guard number % 50 == 49 else { continue }
        // Beside other programs the loops may be behind with closing.
        try await eventually("what had to go is closed") { server.metrics.openConnections <= 64 }
        let client = try RawClient(port: server.port, from: "127.1.1.1")
        #expect(try await served(client) == 200, "after \(number)")
      }
      #expect(server.metrics.openConnections <= 64 + 128)
      #expect(server.metrics.connectionsEvicted > 400)
      for client in flood { client.close() }
      try await eventually("all are gone") { server.metrics.openConnections == 0 }
      _ = try await connect(server, from: "127.0.0.2")
    }
  }

  @Test("when none is idle, the reserve is for some requests only, and no address has all of it")
  func reserve() async throws {
    let gate = Gate()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
      if request.path == "/wait" { await gate.wait() }
      return HTTPResponse()
    }
    let health = "GET /health/live HTTP/1.1\r\nHost: h\r\n\r\n"
    let wait = "GET /wait HTTP/1.1\r\nHost: h\r\n\r\n"
    try await withServer {
      $0.maximumConnections = 16
      $0.reservedConnections = 4
      $0.maximumRequestsUnderWay = 12
      $0.rules = { _, path in RequestRules(mayUseReserve: path.hasPrefix("/health/")) }
    } handler: {
      await handler($0)
    } body: { server in
      var busy: [RawClient] = []
      for host in 1...12 {
        busy.append(try RawClient(port: server.port, from: "127.0.0.\(host)"))
        try await busy[host - 1].send(wait)
        try await eventually("\(host) wait") { gate.waitingCount == host }
      }
      let watcher = try RawClient(port: server.port, from: "127.0.0.20")
      #expect(try await served(watcher, health) == 200)
      #expect(try await served(watcher, health) == 200)
      // The server refuses the requests of others with 503, and the watcher's request for another
      // path too.
      let other = try RawClient(port: server.port, from: "127.0.0.21")
      #expect(try await served(other) == 503)
      #expect(try await other.isClosedByServer())
      #expect(try await served(watcher) == 503)
      #expect(try await watcher.isClosedByServer())
      #expect(server.metrics.refused[.tooManyConnections] == 2)
      // With a place free again the reserve's connection is as any other.
      let late = try RawClient(port: server.port, from: "127.0.0.22")
      #expect(try await served(late, health) == 200)
      gate.open()
      for client in busy { #expect(try await client.response().status == 200) }
      busy[0].close()
      try await eventually("a place is free") { server.metrics.openConnections <= 12 }
      #expect(try await served(late) == 200)
      #expect(server.metrics.connectionsEvicted == 0)
    }
  }
}
