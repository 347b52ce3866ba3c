import COpenSSL
import Cryptography
import Foundation
import HTTP2Transport
import HostilePeer
import Testing
import Waiting

@testable import OutboundHTTP

/// TLS that begins well and does not end so: each request has its outcome, none is taken for answered,
/// and the next connection is judged anew.
struct BrokenTLSTests {
  @Test(
    "a handshake that is cut in any flight, at any byte, fails the request",
    arguments: [Int32(TLS1_2_VERSION), Int32(TLS1_3_VERSION)])
  func cutHandshake(version: Int32) async throws {
    // Within the first record's header, in each message of the server, and behind the last.
    let limits = [0, 1, 5, 60, 100, 150, 300, 500, 700, 800, 1_000]
    try await HostileWorld.with(
      { connection in
        connection.sendLimit = limits[(connection.number - 1) / 2 % limits.count]
        try connection.shakeHands(version: version)
        // Settings come with none of the limits: there is nothing left for an answer.
        connection.sendLimit = 0
        try connection.write(HTTP2Frame.settings([]).bytes)
      },
      run: { world in
        for limit in limits {
          let asked = try await world.ask()
          #expect([.notTrusted, .broken].contains(asked.code), "\(limit): \(asked)")
          let pushed = try await world.push()
          #expect([.tlsFailed, .connectionLost].contains(pushed.code), "\(limit): \(pushed)")
        }
      })
  }

  @Test("a server that ends it after the client's first words, with or without an alert, is told")
  func closedAfterHello() async throws {
    try await HostileWorld.with(
      { connection in
        _ = try connection.readRaw()
        // handshake_failure
        if connection.number > 2 { try connection.sendRaw([21, 3, 3, 0, 2, 2, 40]) }
      },
      run: { world in
        for _ in 0..<2 {
          let asked = try await world.ask()
          #expect(asked.code == .notTrusted)
          let pushed = try await world.push()
          #expect([.tlsFailed, .connectionLost].contains(pushed.code))
        }
      })
  }

  @Test("what is no TLS, before or after the handshake, is not taken for an answer")
  func garbage() async throws {
    let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
    try await HostileWorld.with(
      { connection in
        if connection.number > 2 {
          try connection.openHTTP2()
          _ = try connection.nextRequest()
        } else {
          _ = try connection.readRaw()
        }
        try connection.sendRaw(answer)
        while true { _ = try connection.readRaw() }
      },
      run: { world in
        for _ in 0..<2 {
          let asked = try await world.ask()
          #expect([.notTrusted, .broken].contains(asked.code))
          let pushed = try await world.push()
          #expect(pushed.code == .tlsFailed, "\(pushed)")
        }
      })
  }

  @Test("an answer that is cut in its middle is none, with or without TLS's farewell")
  func cutAnswer() async throws {
    try await HostileWorld.with(
      { connection in
        try connection.openHTTP2()
        let stream = try connection.nextRequest()
        try connection.write(
          HTTP2Frame.headers(stream, [(":status", "200"), ("content-length", "1000")]).bytes
            + HTTP2Frame(.data, stream: stream, [UInt8](repeating: 1, count: 500)).bytes)
        if connection.number > 2 { try connection.sendClosure() }
      },
      run: { world in
        for _ in 0..<2 {
          let asked = try await world.ask()
          #expect(asked.code == .broken)
          let pushed = try await world.push()
          #expect(pushed.code == .connectionLost)
        }
      })
  }

  @Test("another handshake on the same connection is not done")
  func renegotiation() async throws {
    try await HostileWorld.with(
      time: 0.5,
      { connection in
        try connection.shakeHands(version: Int32(TLS1_2_VERSION))
        try connection.write(HTTP2Frame.settings([]).bytes)
        _ = try connection.nextRequest()
        try connection.renegotiate()
        while true { _ = try connection.read() }
      },
      run: { world in
        let asked = try await world.ask()
        #expect(asked.status == nil)
        let pushed = try await world.push(timeout: .milliseconds(500))
        #expect(pushed.status == nil)
      })
  }

  @Test("each connection's certificate is judged, whatever the one before showed")
  func otherCertificate() async throws {
    let stranger = try CertificateAuthority(commonName: "Stranger")
      .issueCertificate(forHosts: ["127.0.0.1"])
    try await HostileWorld.with(
      { connection in
        // Two good ones, two bad ones, and so on: each way out has one connection of each two.
        let isGood = (connection.number - 1) / 2 % 2 == 0
        try connection.shakeHands(with: isGood ? nil : stranger)
        try connection.write(HTTP2Frame.settings([]).bytes)
        while true { try connection.answer(try connection.nextRequest()) }
      },
      run: { world in
        for isGood in [true, false, true, false] {
          let asked = try await world.ask()
          let pushed = try await world.push()
          #expect(isGood ? asked.status == 200 : asked.code == .notTrusted, "\(asked)")
          world.peer.cut()
          try await eventually("nothing is open") { world.peer.open == 0 }
          #expect(isGood ? pushed.status == 200 : pushed.code == .certificateRejected, "\(pushed)")
        }
      })
  }
}
