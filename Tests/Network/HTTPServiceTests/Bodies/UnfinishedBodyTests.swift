import Foundation
import HTTPService
import Testing
import Waiting

/// Clients that begin bodies and do not end them, beside clients that do.
struct UnfinishedBodyTests {
  private func head(_ count: Int) -> String {
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\n\r\n"
  }

  private func bytes(_ count: Int) -> String { String(repeating: "x", count: count) }

  /// Opens requests from an address with all of their bodies but the last byte.
  private func begin(
    _ count: Int, of size: Int, from source: String, at server: HTTPServer
  ) async throws -> [RawClient] {
    var clients: [RawClient] = []
    for _ in 0..<count {
      let client = try RawClient(port: server.port, from: source)
      // The server may refuse it and read on.
      try await client.send(head(size) + bytes(size - 1))
      clients.append(client)
    }
    return clients
  }

  private func post(_ size: Int, from source: String, at server: HTTPServer) async throws -> Int {
    let client = try RawClient(port: server.port, from: source)
    try await client.send(head(size) + bytes(size))
    return try await client.response().status
  }

  @Test(
    "sixty connections of one address with unfinished bodies leave room for large bodies of others")
  func oneAddress() async throws {
    try await withServer {
      $0.maximumBufferedBytes = 8 << 20
    } body: { server in
      let unfinished = try await begin(60, of: 200_000, from: "127.0.1.1", at: server)
      try await eventually("some are refused") {
        (server.metrics.refused[.tooManyBytesOfAddress] ?? 0) > 0
          || server.metrics.bufferedBytes > 1_000_000
      }
      #expect(try await post(100_000, from: "127.0.2.1", at: server) == 200)
      #expect(server.metrics.bufferedBytes <= 2 << 20)
      withExtendedLifetime(unfinished) {}
    }
  }

  @Test("four addresses of one network with small unfinished bodies leave room for all others")
  func oneNetwork() async throws {
    try await withServer {
      $0.maximumBufferedBytes = 1 << 20
    } body: { server in
      var unfinished: [RawClient] = []
      for host in 1...4 {
        unfinished += try await begin(15, of: 60_000, from: "127.0.1.\(host)", at: server)
      }
      #expect(try await post(60_000, from: "127.0.2.1", at: server) == 200)
      #expect(try await post(10, from: "127.0.2.2", at: server) == 200)
      #expect(server.metrics.bufferedBytes <= 600_000)
      withExtendedLifetime(unfinished) {}
    }
  }

  @Test("unfinished bodies for files leave room for those of other addresses")
  func files() async throws {
    try await withServer {
      $0.rules = { _, _ in RequestRules(body: .file) }
      var spooling = HTTPServer.Spooling(
        directory: NSTemporaryDirectory(), maximumBodySize: 1_000_000)
      spooling.maximumSpooledBytes = 4_000_000
      $0.spooling = spooling
    } body: { server in
      let unfinished = try await begin(30, of: 200_000, from: "127.0.1.1", at: server)
      let client = try RawClient(port: server.port, from: "127.0.2.1")
      try await client.send(head(200_000) + bytes(200_000))
      #expect(try await client.response().status == 200)
      #expect(server.metrics.spooledBytes <= 4_000_000 / 3 + 200_000)
      withExtendedLifetime(unfinished) {}
    }
  }

  @Test("behind a proxy, each client has a share by the address that the proxy names")
  func forwarded() async throws {
    try await withServer {
      $0.maximumBufferedBytes = 4 << 20
      $0.isProxy = { _ in true }
      $0.forwardedAddress = { fields in
        fields.first { $0.name == "Client" }.flatMap { UInt8($0.value) }.map { [10, 0, $0, 1] }
      }
    } body: { server in
      func head(_ client: Int, _ size: Int) -> String {
        "POST / HTTP/1.1\r\nHost: h\r\nClient: \(client)\r\nContent-Length: \(size)\r\n\r\n"
      }
      var unfinished: [RawClient] = []
      for _ in 0..<30 {
        let client = try RawClient(port: server.port)
        try await client.send(head(1, 200_000) + bytes(199_999))
        unfinished.append(client)
      }
      let client = try RawClient(port: server.port)
      try await client.send(head(2, 200_000) + bytes(200_000))
      #expect(try await client.response().status == 200)
      try await client.send(head(1, 200_000) + bytes(200_000))
      #expect(try await client.response().status == 503)
      withExtendedLifetime(unfinished) {}
    }
  }

  @Test("a body that came quickly and then drips is cut off")
  func burst() async throws {
    try await withServer {
      $0.idleTimeout = .seconds(20)
      $0.rateGrace = .milliseconds(500)
      $0.minimumRate = 1 << 10
    } body: { server in
      let client = try RawClient(port: server.port)
      try await client.send(head(8 << 20) + bytes(4 << 20))
      try await eventually("the server closes the connection") {
        do {
          try await client.send("x")
          return false
        } catch is RawClient.Failure {
          return true
        }
      }
      try await eventually("its bytes are free") { server.metrics.bufferedBytes == 0 }
      #expect(server.metrics.refused[.tooSlow] == 1)
    }
  }

  @Test("a body that comes steadily is cut off at the end of its time")
  func longBody() async throws {
    try await withServer {
      $0.bodyTime = .milliseconds(500)
      $0.minimumRate = 1
    } body: { server in
      let client = try RawClient(port: server.port)
      try await client.send(head(8 << 20))
      try await eventually("the server closes the connection") {
        do {
          try await client.send("xx")
          return false
        } catch is RawClient.Failure {
          return true
        }
      }
    }
  }

  @Test("an answer of which a client takes much and then nothing is cut off")
  func answer() async throws {
    let size = 64 << 20
    try await withServer {
      $0.idleTimeout = .seconds(20)
      $0.rateGrace = .milliseconds(500)
      $0.minimumRate = 1 << 20
    } handler: { _ in
      HTTPResponse(body: .data(Data(count: size)))
    } body: { server in
      let client = try RawClient(port: server.port, receiveBuffer: 4096)
      try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      _ = try await client.head()
      // At the lowest rate on average, the whole answer would have a minute.
      try await eventually("the answer is given up") {
        server.metrics.bufferedBytes == 0 && server.metrics.refused[.tooSlow] == 1
      }
    }
  }
}
