import Cryptography
import Foundation
import HTTP2Transport
import HTTPService
import Synchronization
import Testing
import Waiting

@testable import OutboundHTTP

struct HTTPClientTests {
  private func configuration(
    _ change: (inout HTTPClient.Configuration) -> Void = { _ in }
  ) throws -> HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration()
    configuration.rules = AddressRules(allowed: [try #require(IPNetwork("127.0.0.0/8"))])
    configuration.allowsHTTP = true
    change(&configuration)
    return configuration
  }

  /// Runs `body` with a client that is closed afterwards.
  private func withClient(
    _ configuration: HTTPClient.Configuration, _ body: (HTTPClient) async throws -> Void
  ) async throws {
    let client = try HTTPClient(configuration)
    do {
      try await body(client)
    } catch {
      await client.close()
      throw error
    }
    await client.close()
  }

  private struct Handler {
    var respond: @Sendable (HTTPRequest) async -> HTTPResponse

    init(_ respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) {
      self.respond = respond
    }
  }

  /// Runs `body` with the URL of a server.
  private func withServer(
    _ handler: Handler, _ body: (String) async throws -> Void
  ) async throws {
    let server = HTTPServer(configuration: HTTPServer.Configuration(), handler: handler.respond)
    try server.start()
    do {
      try await body("http://127.0.0.1:\(server.port)")
    } catch {
      await server.stop(within: .zero)
      throw error
    }
    await server.stop(within: .zero)
  }

  private func request(
    _ url: String, _ headers: [(name: String, value: String)] = [], body: String = "hello",
    rules: AddressRules? = nil
  ) throws -> OutboundRequest {
    let loopback = AddressRules(allowed: [try #require(IPNetwork("127.0.0.0/8"))])
    return OutboundRequest(
      url: try OutboundURL(url, allowsHTTP: true, rules: rules ?? loopback), headers: headers,
      body: Array(body.utf8))
  }

  @Test("a body is handed over in pieces as it comes, of any size, and that of a refusal is not")
  func pieces() async throws {
    try await withServer(
      Handler { request in
        guard request.method == "GET" else { return HTTPResponse(status: 405) }
        guard request.path == "/long" else {
          return HTTPResponse(status: 404, body: .data(Data("gone".utf8)))
        }
        return HTTPResponse(
          body: .stream { writer in
            for number in 0..<100 {
              try await writer.write(Data(repeating: UInt8(number), count: 1_000))
            }
          })
      }
    ) { url in
      // Less than the body has.
      try await withClient(configuration { $0.answerBytes = 10_000 }) { client in
        let received = Mutex<[UInt8]>([])
        var get = try request(url + "/long")
        get.method = .get
        let answer = try await client.send(get) { piece in received.withLock { $0 += piece } }
        #expect(answer.status == 200 && answer.body.isEmpty)
        #expect(
          received.withLock { $0 } == (0..<100).flatMap { [UInt8](repeating: $0, count: 1_000) })
        var missing = try request(url + "/short")
        missing.method = .get
        let refusal = try await client.send(missing) { _ in
          Issue.record("a refusal was handed over")
        }
        #expect(refusal.status == 404 && refusal.body == Array("gone".utf8))
      }
    }
  }

  @Test("a request arrives with its headers and body, and the answer comes back")
  func exchange() async throws {
    try await withServer(
      Handler { request in
        let accepted = request.headers.filter { $0.name.lowercased().hasPrefix("accept") }
          .map { "\($0.name) \($0.value)" }
        return HTTPResponse(
          status: 202,
          headers: [
            ("X-Seen", request.header("X-Told") ?? "nothing"), ("X-Accepted", "\(accepted)"),
          ],
          body: .data(Data("\(request.method) \(request.path) ".utf8) + request.body))
      }
    ) { url in
      try await withClient(configuration()) { client in
        let answer = try await client.send(
          request(url + "/hook?a=b", [("X-Told", "tale"), ("Content-Type", "text/plain")]))
        #expect(answer.status == 202)
        #expect(answer.headers["x-seen"] == "tale")
        #expect(String(decoding: answer.body, as: UTF8.self) == "POST /hook hello")
        // What is accepted is what the request says, and no coding that would have to be unpacked.
        #expect(answer.headers["x-accepted"] == "[]")
        let told = try await client.send(request(url, [("Accept", "application/json")]))
        #expect(told.headers["x-accepted"] == #"["Accept application/json"]"#)
      }
    }
  }

  /// Texts that would begin another header field, cut one off, or end the header, if the client
  /// wrote them.
  private static let breaks = [
    "a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\rX-Evil: 1", "a\r\n\r\nPOST /evil HTTP/1.1", "a\0b", "\0",
    "\r\n",
    "a\u{0B}b", "a\u{7F}b", "a\tb",
  ]

  @Test("a header field that would be something else in the request is not sent", arguments: breaks)
  func brokenHeaders(text: String) async throws {
    let count = Mutex(0)
    try await withServer(
      Handler { request in
        count.withLock { $0 += 1 }
        return HTTPResponse(status: 204)
      }
    ) { url in
      try await withClient(configuration()) { client in
        for header in [("X-Told", text), (text, "tale"), ("X-Told: 1" + text, "tale"), ("", text)] {
          let error = await #expect(throws: OutboundError.self) {
            try await client.send(request(url, [("Content-Type", "text/plain"), header]))
          }
          #expect(error?.code == .unsendable)
          #expect(error?.reason.contains { $0.isNewline || $0 == "\0" } == false)
        }
        #expect(count.withLock(\.self) == 0)
        let answer = try await client.send(request(url))
        #expect(answer.status == 204, "others go on")
      }
    }
  }

  @Test(
    "what is not ASCII arrives in a header field as it is",
    arguments: ["é", "\u{85}", "\u{2028}", "a b"])
  func foreignHeaders(text: String) async throws {
    try await withServer(
      Handler { request in
        HTTPResponse(
          status: 200,
          body: .data(
            Data(request.headers.map { "\($0.name)=\($0.value)" }.joined(separator: "|").utf8)))
      }
    ) { url in
      try await withClient(configuration()) { client in
        let answer = try await client.send(request(url, [("X-Told", text)]))
        let fields = String(decoding: answer.body, as: UTF8.self).split(separator: "|")
        #expect(fields.contains { $0.utf8.elementsEqual("X-Told=\(text)".utf8) }, "\(fields)")
      }
    }
  }

  @Test("HTTP/2 is spoken over TLS where the peer does, with the configured authority alone")
  func http2() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let authority = try CertificateAuthority(commonName: "Outbound")
    let authorityFile = folder.appending(path: "ca.pem").path
    try authority.writeCertificate(toFile: authorityFile)
    let certificate = try authority.issueCertificate(forHosts: ["127.0.0.1"])
    let connections = Mutex<Set<HTTP2ConnectionID>>([])
    let server = try HTTP2Server(
      HTTP2ServerConfiguration(
        certificateChainPEM: certificate.certificateChainPEM,
        privateKeyPEM: certificate.privateKeyPEM)
    ) { request in
      _ = connections.withLock { $0.insert(request.connection) }
      request.respond(status: 201, headers: ["location": request.path], body: request.body)
    }
    try server.start()
    let url = "https://127.0.0.1:\(server.port)"
    try await withClient(configuration { $0.authorityFile = authorityFile }) { client in
      try await withThrowingTaskGroup { group in
        for number in 0..<500 {
          group.addTask {
            let answer = try await client.send(
              request("\(url)/\(number)", body: String(repeating: "x", count: number)))
            #expect(answer.status == 201)
            #expect(answer.headers["location"] == "/\(number)")
            #expect(answer.body.count == number)
          }
        }
        try await group.waitForAll()
      }
      #expect(connections.withLock(\.count) <= 8)
    }
    try await withClient(configuration()) { client in
      let error = await #expect(throws: OutboundError.self) {
        try await client.send(request(url))
      }
      #expect(error?.code == .notTrusted)
    }
    await server.stop()
  }

  @Test("a redirect is an answer, and nobody follows it")
  func redirect() async throws {
    let asked = Mutex<[String]>([])
    try await withServer(
      Handler { request in
        asked.withLock { $0.append(request.path) }
        return HTTPResponse(
          status: 307, headers: [("Location", "/elsewhere")], body: .data(Data()))
      }
    ) { url in
      try await withClient(configuration()) { client in
        let answer = try await client.send(request(url + "/here"))
        #expect(answer.status == 307)
      }
    }
    #expect(asked.withLock { $0 } == ["/here"])
  }

  @Test("an address that is not allowed is not connected to, also behind a name")
  func addresses() async throws {
    let asked = Mutex(0)
    try await withServer(
      Handler { _ in
        asked.withLock { $0 += 1 }
        return HTTPResponse(status: 200, headers: [], body: .data(Data()))
      }
    ) { url in
      let port = try #require(url.split(separator: ":").last)
      try await withClient(configuration { $0.rules = AddressRules() }) { client in
        for target in [url, "http://localhost:\(port)"] {
          let error = await #expect(throws: OutboundError.self) {
            try await client.send(request(target))
          }
          #expect(error?.code == .addressRefused, "\(error?.reason ?? "")")
        }
      }
      #expect(asked.withLock { $0 } == 0)
      // The name again, where its address is allowed: the refusal was not for another reason.
      try await withClient(configuration { $0.rules.allowed += [IPNetwork("::1")!] }) { client in
        let answer = try await client.send(request("http://localhost:\(port)"))
        #expect(answer.status == 200)
      }
    }
  }

  @Test("TLS alone is spoken unless more is configured")
  func plainHTTP() async throws {
    try await withServer(
      Handler { _ in HTTPResponse(status: 200, headers: [], body: .data(Data())) }
    ) {
      url in
      try await withClient(configuration { $0.allowsHTTP = false }) { client in
        await #expect(throws: OutboundError.self) { try await client.send(request(url)) }
      }
    }
  }

  @Test("an answer beyond the limit is broken off")
  func largeAnswers() async throws {
    try await withServer(
      Handler { request in
        if request.path == "/headers" {
          return HTTPResponse(
            status: 200,
            headers: (0..<5).map { ("X-\($0)", String(repeating: "h", count: 200)) },
            body: .data(Data()))
        }
        return HTTPResponse(
          status: 200, headers: [], body: .data(Data(repeating: 0x78, count: 1 << 20)))
      }
    ) { url in
      try await withClient(configuration { $0.headerBytes = 900 }) { client in
        for path in ["/body", "/headers"] {
          let error = await #expect(throws: OutboundError.self) {
            try await client.send(request(url + path))
          }
          #expect(error?.code == .answerTooLarge, "\(path) \(error?.reason ?? "")")
        }
      }
    }
  }

  @Test("a peer that is silent, absent or talks nonsense is told apart")
  func badPeers() async throws {
    let silent = try SilentListener()
    defer { silent.close() }
    try await withClient(configuration { $0.time = 0.2 }) { client in
      let error = await #expect(throws: OutboundError.self) {
        try await client.send(request("http://127.0.0.1:\(silent.port)"))
      }
      #expect(error?.code == .timedOut, "\(error?.reason ?? "")")
    }
    try await withClient(configuration()) { client in
      let gone = try SilentListener()
      gone.close()
      let error = await #expect(throws: OutboundError.self) {
        try await client.send(request("http://127.0.0.1:\(gone.port)"))
      }
      #expect(error?.code == .unreachable, "\(error?.reason ?? "")")
      let nobody = await #expect(throws: OutboundError.self) {
        try await client.send(request("http://nobody.invalid"))
      }
      #expect(nobody?.code == .unreachable, "\(nobody?.reason ?? "")")
    }
  }

  @Test("a silent peer holds up no other, and what waits too long in line is refused")
  func crowds() async throws {
    let silent = try SilentListener()
    defer { silent.close() }
    let crowded = try configuration {
      $0.exchangesPerOrigin = 2
      $0.waitingPerOrigin = 3
    }
    let outcomes = Mutex<[OutboundError.Code]>([])
    try await withServer(
      Handler { _ in HTTPResponse(status: 204, headers: [], body: .data(Data())) }
    ) {
      url in
      try await withClient(crowded) { client in
        func sendToSilent() throws {
          client.send(try request("http://127.0.0.1:\(silent.port)")) { result in
            if case .failure(let error) = result { outcomes.withLock { $0.append(error.code) } }
          }
        }
        for _ in 0..<2 { try sendToSilent() }
        try await eventually("two are under way") { client.metrics.underWay == 2 }
        for _ in 0..<4 { try sendToSilent() }
        #expect(outcomes.withLock { $0 } == [.overloaded])
        var metrics = HTTPClient.Metrics()
        metrics.refused = 1
        metrics.underWay = 2
        metrics.waiting = 3
        #expect(client.metrics == metrics)
        let answer = try await client.send(request(url))
        #expect(answer.status == 204)
      }
    }
    // Closing ends the others.
    #expect(outcomes.withLock { $0 }.count == 6)
    #expect(outcomes.withLock { $0 }.filter { $0 == .closed }.count == 5)
  }

  @Test("a client that is closed refuses at once, and closing twice is nothing")
  func closing() async throws {
    let client = try HTTPClient(configuration())
    await client.close()
    await client.close()
    let error = await #expect(throws: OutboundError.self) {
      try await client.send(request("http://127.0.0.1:1"))
    }
    #expect(error?.code == .closed)
  }
}

/// Takes connections and never says a word.
private struct SilentListener {
  let port: Int
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && listen(descriptor, 100) == 0
          && getsockname(descriptor, $0, &size) == 0
      }
    }
    try #require(isListening)
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  func close() { _ = Foundation.close(descriptor) }
}
