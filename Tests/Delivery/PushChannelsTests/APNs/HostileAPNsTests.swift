import Cryptography
import Foundation
import HTTP2Transport
import HostilePeer
import Testing
import Waiting

@testable import PushChannels

/// A server in APNs' place that has gone bad: each push has one result, none of them is a delivery that
/// was not made, and the client comes back when the server does.
struct HostileAPNsTests {
  /// The frames that the server sends for each request.
  static let attacks = [
    HostileFrames("it refuses all") { HTTP2Frame(.reset, stream: $0, [0, 0, 0, 7]).bytes },
    HostileFrames("it resets all") { HTTP2Frame(.reset, stream: $0, [0, 0, 0, 2]).bytes },
    HostileFrames("it says GOAWAY to each") {
      HTTP2Frame.goAway(lastStream: $0 - 1, code: 11).bytes
    },
    HostileFrames("it takes back all streams") { _ in HTTP2Frame.settings([(3, 0)]).bytes },
    HostileFrames("it floods") { _ in
      [UInt8]((0..<100_000).flatMap { _ in HTTP2Frame.settings([(4, 65_535)]).bytes })
    },
    HostileFrames("its answers are too large") {
      HTTP2Frame.headers($0, [(":status", "200")]).bytes
        + HTTP2Frame(.data, stream: $0, [UInt8](repeating: 0x20, count: 16_384)).bytes
        + HTTP2Frame(
          .data, flags: HTTP2Frame.endStream, stream: $0, [UInt8](repeating: 0x20, count: 16_384)
        ).bytes
    },
    HostileFrames("its answers have two statuses") {
      HTTP2Frame.headers($0, [(":status", "200"), (":status", "410")], isEnd: true).bytes
    },
    HostileFrames("it answers another request") {
      HTTP2Frame.headers($0 + 1_000, [(":status", "200")], isEnd: true).bytes
    },
  ]

  @Test("each push has one result, and later ones are delivered", arguments: attacks)
  func attack(_ attack: HostileFrames) async throws {
    let authority = try CertificateAuthority(commonName: "Hostile")
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: file) }
    try authority.writeCertificate(toFile: file.path)
    let peer = try HostilePeer(try authority.issueCertificate(forHosts: ["127.0.0.1"])) {
      connection in
      try connection.openHTTP2()
      while true {
        let stream = try connection.nextRequest()
        let isGood = connection.number > 3
        try connection.write(
          isGood
            ? HTTP2Frame.headers(stream, [(":status", "200")], isEnd: true).bytes
            : attack.bytes(stream))
      }
    }
    defer { peer.stop() }
    let loop = try EventLoop(name: "hostile-apns")
    defer { loop.shutDown() }
    var configuration = APNsClient.Configuration(
      host: "127.0.0.1", port: peer.port, trust: .certificateFile(file.path),
      key: try ES256PrivateKey(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    configuration.connectTimeout = .milliseconds(200)
    configuration.answerTimeout = .milliseconds(200)
    let client = APNsClient(configuration, loop: loop, random: { 0 })
    let sent = SentPushes()
    sent.send((0..<20).map { _ in ScriptedAPNs.push(token: "aa11") }, over: client)
    let results = try await sent.finish()
    #expect(results.count == 20)
    // The ones on the good connection alone are delivered; a worker sends the others again.
    try await eventually("a push is delivered") {
      let again = SentPushes()
      again.send([ScriptedAPNs.push(token: "aa11")], over: client)
      let isDelivered = try await again.finish().allSatisfy(\.isAccepted)
      // A server that refuses streams and keeps its connection is left by closing it here.
      if !isDelivered, peer.accepted <= 3 { peer.cut() }
      return isDelivered
    }
    await client.close()
  }
}
