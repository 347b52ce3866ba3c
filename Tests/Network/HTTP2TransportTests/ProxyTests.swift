import Foundation
import ProxySimulation
import Testing
import Waiting

@testable import HTTP2Transport

@Suite(.timeLimit(.minutes(1)))
struct ProxyTests {
  private func through(
    _ behaviour: SimulatedProxy.Behaviour, credentials: HTTPProxy.Credentials? = nil,
    timeout: Duration = .seconds(10), _ body: (Client, SimulatedProxy) async throws -> Void
  ) async throws {
    let playground = try Playground(answering: { $0.respond(status: 200) })
    let proxy = try SimulatedProxy(behaviour)
    let client = try playground.client {
      $0.proxy = HTTPProxy(host: "127.0.0.1", port: proxy.port, credentials: credentials)
      $0.connectTimeout = timeout
    }
    try await body(client, proxy)
    proxy.stop()
    await playground.stop()
  }

  @Test("Requests go through the tunnel, and the server's certificate is checked as ever")
  func tunnel() async throws {
    try await through(.tunnel) { client, proxy in
      let body = [UInt8](repeating: 7, count: 100_000)
      let response = try await client.exchange(
        HTTP2Request(method: "POST", path: "/", body: body))
      #expect(response.status == 200)
      #expect(proxy.tunnelCount == 1)
      let head = try #require(proxy.heads.first)
      #expect(head.wholeMatch(of: /CONNECT (127.0.0.1:\d+) HTTP\/1.1\r\nHost: \1\r\n\r\n/) != nil)
    }
  }

  @Test("User and password are given to a proxy that asks for them")
  func credentials() async throws {
    let pair = HTTPProxy.Credentials(user: "anna", password: "s t:u")
    try await through(.tunnelFor("Basic YW5uYTpzIHQ6dQ=="), credentials: pair) { client, _ in
      let response = try await client.exchange(HTTP2Request(method: "GET", path: "/"))
      #expect(response.status == 200)
    }
  }

  @Test(
    "A proxy that does not do it is told by name and reason, and requests are safe to repeat",
    arguments: [
      (.tunnelFor("Basic x"), nil, "asks for a user and a password (407)"),
      (
        .tunnelFor("Basic x"), HTTPProxy.Credentials(user: "anna", password: "wrong"),
        "refuses the user or the password (407)"
      ),
      (.answer("HTTP/1.1 403 Forbidden\r\n\r\n"), nil, "refused to connect: 403 Forbidden"),
      (.answer("HTTP/1.1 200 OK\r\n\r\nHello"), nil, "sent data after its answer"),
      (.answer("SSH-2.0-OpenSSH_9.2\r\n"), nil, "is not HTTP"),
      (.answer("HTTP/1.1 yes\r\n\r\n"), nil, "is not HTTP"),
      (.answer("HTTP/1.1 200 "), nil, "ended the connection without an answer"),
      (.answer(""), nil, "ended the connection without an answer"),
    ] as [(SimulatedProxy.Behaviour, HTTPProxy.Credentials?, String)])
  func refused(
    behaviour: SimulatedProxy.Behaviour, credentials: HTTPProxy.Credentials?, reason: String
  ) async throws {
    try await through(behaviour, credentials: credentials) { client, proxy in
      client.send("/")
      let error = try #require(try await client.ending())
      #expect(error.code == .proxyFailed)
      #expect(error.reason.contains("proxy 127.0.0.1:\(proxy.port)"), "\(error.reason)")
      #expect(error.reason.contains(reason), "\(error.reason)")
      #expect(client.error(of: "/")?.isSafeToRepeat == true)
    }
  }

  @Test("A proxy that answers without end is cut off")
  func endless() async throws {
    let answer = "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 10_000)
    try await through(.answer(answer)) { client, _ in
      let error = try await client.ending()
      #expect(error?.reason.contains("is not HTTP") == true)
    }
  }

  @Test("A proxy that says nothing runs into the time-out")
  func silent() async throws {
    try await through(.silence, timeout: .milliseconds(100)) { client, _ in
      let error = try await client.ending()
      #expect(error?.code == .timedOut)
    }
  }

  @Test("A connection can be closed while its proxy still thinks")
  func closing() async throws {
    try await through(.silence) { client, proxy in
      client.send("/")
      try await eventually("the proxy is asked") { !proxy.heads.isEmpty }
      client.connection.close(.atOnce)
      let error = try await client.ending()
      #expect(error?.code == .closed)
      #expect(client.error(of: "/")?.isSafeToRepeat == true)
    }
  }

  @Test("A proxy that cannot be reached is not taken for the server")
  func unreachable() async throws {
    let playground = try Playground()
    let proxy = try SimulatedProxy(.silence)
    proxy.stop()
    let client = try playground.client { $0.proxy = HTTPProxy(host: "127.0.0.1", port: proxy.port) }
    let error = try #require(try await client.ending())
    #expect(error.code == .proxyFailed)
    #expect(error.reason.hasPrefix("the proxy: 127.0.0.1 port \(proxy.port) cannot be reached"))
    await playground.stop()
  }

  @Test("A proxy's URL is read, with its credentials")
  func parsing() throws {
    let full = try HTTPProxy(parsing: "http://anna:s%20t%3Au@proxy.example.com:3128/")
    #expect(full.host == "proxy.example.com")
    #expect(full.port == 3128)
    #expect(full.credentials == HTTPProxy.Credentials(user: "anna", password: "s t:u"))
    #expect(full.description == "proxy.example.com:3128")
    let plain = try HTTPProxy(parsing: "http://[::1]")
    #expect(plain == HTTPProxy(host: "::1", port: 80))
    #expect(plain.description == "[::1]:80")
  }

  @Test(
    "What is no proxy's URL is refused with the rule, and without its password",
    arguments: [
      ("proxy.example.com:3128", "must begin with http://"),
      ("https://proxy.example.com", "must begin with http://, not with 'https'"),
      ("http://", "the host is missing"), ("http://a:secret@host:70000", "from 1 to 65535"),
      ("http://a:secret@host/path", "nothing may follow"),
      ("http://host?x=1", "nothing may follow"),
      ("http://:secret@host", "the user's name is missing"),
      ("http://a%3Ab:secret@host", "must not have a colon"),
    ])
  func mistakes(text: String, rule: String) {
    let error = #expect(throws: HTTP2Error.self) { try HTTPProxy(parsing: text) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.reason.contains(rule) == true, "\(error?.reason ?? "")")
    #expect(error?.reason.contains("secret") == false)
  }
}
