import Foundation
import HTTPService
import Testing
import Waiting

struct LongPollTests {
  @Test("a thousand requests wait at once while others are answered")
  func thousand() async throws {
    let gate = Gate()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
      if request.path.hasPrefix("/poll") { await gate.wait() }
      return await echo(request)
    }
    try await withServer(handler: handler) { server in
      var clients: [RawClient] = []
      for number in 0..<1000 {
        let client = try RawClient(port: server.port)
        try await client.send("GET /poll/\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
        clients.append(client)
      }
      try await eventually("all wait") { gate.waitingCount == 1000 }
      #expect(server.metrics.requestsUnderWay == 1000)
      let other = try RawClient(port: server.port)
      for _ in 0..<50 {
        try await other.send("GET /quick HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try await other.response().text == "GET /quick ")
      }
      gate.open()
      for (number, client) in clients.enumerated() {
        #expect(try await client.response().text == "GET /poll/\(number) ")
      }
      try await eventually("all are served") { server.metrics.requestsServed == 1050 }
    }
  }

  @Test("the handler of a client that leaves is cancelled")
  func clientLeaves() async throws {
    let gate = Gate()
    let cancelled = Tally()
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
      await gate.wait()
      if Task.isCancelled { cancelled.add() }
      return HTTPResponse()
    }
    try await withServer(handler: handler) { server in
      let staying = try RawClient(port: server.port)
      let leaving = [try RawClient(port: server.port), try RawClient(port: server.port)]
      for client in [staying] + leaving {
        try await client.send("GET /poll HTTP/1.1\r\nHost: h\r\n\r\n")
      }
      try await eventually("all wait") { gate.waitingCount == 3 }
      for client in leaving { client.close() }
      try await eventually("two are cancelled") { cancelled.value == 2 }
      #expect(gate.waitingCount == 1)
      gate.open()
      #expect(try await staying.response().status == 200)
      #expect(cancelled.value == 2)
    }
  }
}
