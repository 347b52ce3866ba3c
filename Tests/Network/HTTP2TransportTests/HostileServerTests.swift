import Cryptography
import Foundation
import HostilePeer
import Testing
import Waiting

@testable import HTTP2Transport

/// Frames that a malicious server may send. The client's memory and work must stay within bounds,
/// each request must have its outcome, and the connection's end must say why.
struct HostileServerTests {
  /// A hostile server and a client that trusts it.
  private func with(
    _ script: @escaping HostilePeer.Script,
    configure: (inout HTTP2ClientConfiguration) -> Void = { _ in },
    run body: (HostilePeer, Client) async throws -> Void
  ) async throws {
    let authority = try CertificateAuthority(commonName: "Hostile")
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: file) }
    try authority.writeCertificate(toFile: file.path)
    let peer = try HostilePeer(try authority.issueCertificate(forHosts: ["127.0.0.1"]), script)
    defer { peer.stop() }
    let loop = try EventLoop(name: "hostile-test")
    defer { loop.shutDown() }
    var configuration = HTTP2ClientConfiguration(
      host: "127.0.0.1", port: peer.port, trust: .certificateFile(file.path))
    configure(&configuration)
    let client = try Client(configuration, loop: loop)
    try await body(peer, client)
    client.connection.close(.atOnce)
    _ = try await client.ending()
  }

  @Test(
    "a flood ends the connection with a reason, and the request with it",
    arguments: HostileFrames.floods)
  func flood(_ flood: HostileFrames) async throws {
    try await with(
      { connection in
        try connection.openHTTP2()
        try flood.flood(connection)
      },
      run: { peer, client in
        client.send("/flooded")
        let error = try #require(try await client.ending())
        #expect(error.code == .protocolViolation)
        #expect(!error.reason.isEmpty)
        try await client.outcomes.wait(count: 1)
        #expect(client.error(of: "/flooded") != nil)
        // What it could send by then: the allowance, and what lay in the system's buffers.
        #expect(peer.sent < 12 << 20)
      })
  }

  @Test("an answer that does not end is broken off, and the connection with it when it goes on")
  func endlessAnswer() async throws {
    try await with(
      { connection in
        try connection.openHTTP2()
        let stream = try connection.nextRequest()
        try connection.write(HTTP2Frame.headers(stream, [(":status", "200")]).bytes)
        let piece = HTTP2Frame(.data, stream: stream, [UInt8](repeating: 0, count: 16_384)).bytes
        while true { try connection.write(piece) }
      }, configure: { $0.maximumResponseBytes = 100_000 },
      run: { peer, client in
        client.send("/endless")
        try await client.outcomes.wait(count: 1)
        #expect(client.error(of: "/endless")?.code == .answerTooLarge)
        let error = try #require(try await client.ending())
        #expect(error.code == .protocolViolation)
        #expect(error.reason.contains("flood"))
        #expect(peer.sent < 12 << 20)
      })
  }

  @Test("header fields that unpack to much more than they are end the request, not the memory")
  func compressionBomb() async throws {
    try await with(
      { connection in
        try connection.openHTTP2()
        let stream = try connection.nextRequest()
        // One entry of the table that nearly fills it, and then its number, again and again.
        let entry =
          [0x88, 0x40] + HTTP2Frame.text("x")
          + HTTP2Frame.text(String(repeating: "y", count: 4_000))
        let bomb = entry + [UInt8](repeating: 0xBE, count: 12_000)
        try connection.write(
          HTTP2Frame(
            .headers, flags: HTTP2Frame.endHeaders | HTTP2Frame.endStream, stream: stream, bomb
          ).bytes)
        let next = try connection.nextRequest()
        try connection.write(HTTP2Frame.headers(next, [(":status", "200")], isEnd: true).bytes)
        try connection.waitForEnd()
      },
      run: { _, client in
        client.send("/bomb")
        try await client.outcomes.wait(count: 1)
        #expect(client.error(of: "/bomb")?.code == .answerTooLarge)
        // The other requests of the connection do not suffer.
        client.send("/next")
        try await client.outcomes.wait(count: 2)
        #expect(client.status(of: "/next") == 200)
      })
  }

  @Test("interim answers count for the size of an answer's header fields")
  func interimAnswers() async throws {
    try await with(
      { connection in
        try connection.openHTTP2()
        let stream = try connection.nextRequest()
        let hint = HTTP2Frame.headers(
          stream, [(":status", "103"), ("link", String(repeating: "a", count: 1_000))])
        for _ in 0..<20 { try connection.write(hint.bytes) }
        try connection.write(HTTP2Frame.headers(stream, [(":status", "200")], isEnd: true).bytes)
        try connection.waitForEnd()
      }, configure: { $0.maximumHeaderBytes = 10_000 },
      run: { _, client in
        client.send("/hinted")
        try await client.outcomes.wait(count: 1)
        #expect(client.error(of: "/hinted")?.code == .answerTooLarge)
      })
  }

  /// Violations that concern the whole connection.
  static let breaches = [
    HostileFrames("a window over 2^31 - 1") { _ in
      HTTP2Frame(.windowUpdate, [0x7F, 0xFF, 0xFF, 0xFF]).bytes
    },
    HostileFrames("initial windows over 2^31 - 1") { _ in
      HTTP2Frame.settings([(4, 0x8000_0000)]).bytes
    },
    HostileFrames("a frame size below the least") { _ in HTTP2Frame.settings([(5, 16)]).bytes },
    HostileFrames("SETTINGS of a length that is none") { _ in
      HTTP2Frame(.settings, [0, 1, 2]).bytes
    },
    HostileFrames("SETTINGS of a stream") { HTTP2Frame(.settings, stream: $0).bytes },
    HostileFrames("PING of a stream") {
      HTTP2Frame(.ping, stream: $0, [UInt8](repeating: 0, count: 8)).bytes
    },
    HostileFrames("DATA of no stream") { _ in HTTP2Frame(.data, [1]).bytes },
    HostileFrames("DATA of a stream that nobody opened") {
      HTTP2Frame(.data, stream: $0 + 100, [1]).bytes
    },
    HostileFrames("an answer to a request that nobody made") {
      HTTP2Frame.headers($0 + 100, [(":status", "200")], isEnd: true).bytes
    },
    HostileFrames("a body before the header fields") {
      HTTP2Frame(.data, flags: HTTP2Frame.endStream, stream: $0, [1]).bytes
    },
    HostileFrames("a pushed request") {
      // That none is wanted holds from the acknowledgement on.
      HTTP2Frame(.settings, flags: HTTP2Frame.acknowledgement).bytes
        + HTTP2Frame(
          .promise, flags: HTTP2Frame.endHeaders, stream: $0, [0, 0, 0, 2, 0x82, 0x84, 0x86]
        ).bytes
    },
    HostileFrames("a frame that is longer than allowed") {
      HTTP2Frame(.data, stream: $0, [UInt8](repeating: 0, count: 16_385)).bytes
    },
    HostileFrames("CONTINUATION of nothing") {
      HTTP2Frame(.continuation, flags: HTTP2Frame.endHeaders, stream: $0, [0x88]).bytes
    },
    HostileFrames("another frame within header fields") {
      HTTP2Frame(.headers, stream: $0, [0x88]).bytes
        + HTTP2Frame(.ping, [UInt8](repeating: 0, count: 8)).bytes
    },
    HostileFrames("an index that the table does not have") {
      HTTP2Frame(.headers, flags: HTTP2Frame.endHeaders, stream: $0, [0x88, 0xFE]).bytes
    },
    HostileFrames("a table that grows beyond what was allowed") {
      HTTP2Frame(.headers, flags: HTTP2Frame.endHeaders, stream: $0, [0x3F, 0xE1, 0xFF, 3, 0x88])
        .bytes
    },
    HostileFrames("HTTP/1.1") { _ in Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8) },
    HostileFrames("noise") { _ in (0..<200).map { UInt8($0 * 7 & 0xFF | 0x80) } },
  ]

  @Test("what breaks the rules of a connection ends it, with the rule", arguments: breaches)
  func breach(_ breach: HostileFrames) async throws {
    try await with(
      { connection in
        try connection.openHTTP2()
        let stream = try connection.nextRequest()
        try connection.write(breach.bytes(stream))
        try connection.waitForEnd()
      },
      run: { _, client in
        client.send("/broken")
        let error = try #require(try await client.ending())
        #expect(error.code == .protocolViolation)
        #expect(error.reason.contains("violates HTTP/2"))
        try await client.outcomes.wait(count: 1)
        #expect(client.error(of: "/broken")?.isSafeToRepeat == false)
      })
  }

  /// Violations that concern one answer.
  static let badAnswers = [
    HostileFrames("two statuses in one") {
      HTTP2Frame.headers($0, [(":status", "200"), (":status", "500")], isEnd: true).bytes
    },
    HostileFrames("no status") { HTTP2Frame.headers($0, [("apns-id", "1")], isEnd: true).bytes },
    HostileFrames("a status that is no number") {
      HTTP2Frame.headers($0, [(":status", "2oo")], isEnd: true).bytes
    },
    HostileFrames("a status of 20 digits") {
      HTTP2Frame.headers($0, [(":status", "99999999999999999999")], isEnd: true).bytes
    },
    HostileFrames("an interim answer that ends the stream") {
      HTTP2Frame.headers($0, [(":status", "100")], isEnd: true).bytes
    },
    HostileFrames("another status after the answer") {
      HTTP2Frame.headers($0, [(":status", "200")]).bytes
        + HTTP2Frame.headers($0, [(":status", "200")]).bytes
    },
    HostileFrames("a body of another length than it says") {
      HTTP2Frame.headers($0, [(":status", "200"), ("content-length", "10")]).bytes
        + HTTP2Frame(.data, flags: HTTP2Frame.endStream, stream: $0, [1]).bytes
    },
    HostileFrames("a field of HTTP/1.1") {
      HTTP2Frame.headers($0, [(":status", "200"), ("connection", "close")], isEnd: true).bytes
    },
    HostileFrames("a reset by its window") {
      HTTP2Frame(.windowUpdate, stream: $0, [0x7F, 0xFF, 0xFF, 0xFF]).bytes
    },
  ]

  @Test("an answer that breaks the rules fails alone, with an unknown fate", arguments: badAnswers)
  func badAnswer(_ breach: HostileFrames) async throws {
    try await with(
      { connection in
        try connection.openHTTP2()
        try connection.write(breach.bytes(try connection.nextRequest()))
        let next = try connection.nextRequest()
        try connection.write(HTTP2Frame.headers(next, [(":status", "200")], isEnd: true).bytes)
        try connection.waitForEnd()
      },
      run: { _, client in
        client.send("/bad")
        try await client.outcomes.wait(count: 1)
        let error = try #require(client.error(of: "/bad"))
        #expect(!error.isSafeToRepeat)
        client.send("/next")
        try await client.outcomes.wait(count: 2)
        #expect(client.status(of: "/next") == 200)
      })
  }

  @Test("a server that allows no stream at all is left after the time to connect")
  func noStreams() async throws {
    try await with(
      { connection in
        try connection.openHTTP2(settings: [(3, 0)])
        try connection.waitForEnd()
      }, configure: { $0.connectTimeout = .milliseconds(100) },
      run: { _, client in
        client.send("/waiting")
        let error = try #require(try await client.ending())
        #expect(error.code == .timedOut)
        #expect(error.reason.contains("allowed no request"))
        #expect(client.error(of: "/waiting")?.isSafeToRepeat == true)
      })
  }

  @Test("a server that takes no body has the request broken off in its time")
  func noWindow() async throws {
    try await with(
      { connection in
        try connection.openHTTP2(settings: [(4, 0)])
        _ = try connection.nextRequest(isWhole: false)
        // It lives, and reads on.
        while true {
          let frame = try connection.nextFrame()
          if frame.type == .ping, frame.flags == 0 {
            try connection.write(
              HTTP2Frame(.ping, flags: HTTP2Frame.acknowledgement, frame.payload).bytes)
          }
        }
      }, configure: { $0.answerTimeout = .milliseconds(50) },
      run: { _, client in
        for number in 0..<5 { client.send("/\(number)", body: [UInt8](repeating: 0, count: 4_096)) }
        try await client.outcomes.wait(count: 5)
        for number in 0..<5 {
          #expect(client.error(of: "/\(number)")?.code == .answerOverdue)
        }
      })
  }

  @Test("GOAWAY before all else, for streams that never were, or taken back loses no request")
  func oddGoAway() async throws {
    let odd: [@Sendable (UInt32) -> [UInt8]] = [
      { _ in HTTP2Frame.goAway(lastStream: 0, code: 11).bytes },
      { _ in HTTP2Frame.goAway(lastStream: 0x7FFF_FFFE).bytes },
      {
        HTTP2Frame.goAway(lastStream: $0).bytes + HTTP2Frame.goAway(lastStream: 0).bytes
          + HTTP2Frame.goAway(lastStream: 0x7FFF_FFFF).bytes
      },
    ]
    for bytes in odd {
      try await with(
        { connection in
          try connection.openHTTP2()
          try connection.write(bytes(try connection.nextRequest()))
          try connection.waitForEnd()
        }, configure: { $0.answerTimeout = .milliseconds(100) },
        run: { _, client in
          client.send("/one")
          try await client.outcomes.wait(count: 1)
          #expect(client.error(of: "/one") != nil)
          client.send("/two")
          try await client.outcomes.wait(count: 2)
          #expect(client.error(of: "/two")?.isSafeToRepeat == true)
        })
    }
    try await with(
      { connection in
        try connection.shakeHands()
        try connection.write(HTTP2Frame.goAway(lastStream: 0).bytes)
        try connection.waitForEnd()
      },
      run: { _, client in
        client.send("/one")
        try await client.outcomes.wait(count: 1)
        #expect(client.error(of: "/one")?.isSafeToRepeat == true)
      })
  }
}
