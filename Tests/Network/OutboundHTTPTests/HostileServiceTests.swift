import Foundation
import HostilePeer
import Testing

@testable import OutboundHTTP

/// Push services, webhooks and issuers that have gone bad, over HTTP/2.
struct HostileServiceTests {
  /// Each is repeated until the connection is cut.
  static let attacks =
    HostileFrames.floods + [
      HostileFrames("fields that unpack to much more than they are") {
        HTTP2Frame(
          .headers, flags: HTTP2Frame.endHeaders, stream: $0,
          [0x88, 0x40] + HTTP2Frame.text("x")
            + HTTP2Frame.text(String(repeating: "y", count: 4_000))
            + [UInt8](repeating: 0xBE, count: 12_000)
        ).bytes
      },
      HostileFrames("a body without end") {
        HTTP2Frame.headers($0, [(":status", "200")]).bytes
          + HTTP2Frame(.data, stream: $0, [UInt8](repeating: 0, count: 16_384)).bytes
      },
      HostileFrames("a window over 2^31 - 1") { _ in
        HTTP2Frame(.windowUpdate, [0x7F, 0xFF, 0xFF, 0xFF]).bytes
      },
    ]

  @Test("its requests fail in their time, while those to others are answered", arguments: attacks)
  func attack(_ attack: HostileFrames) async throws {
    try await HostileWorld.with(
      // The others share the processor with the flood.
      time: 2,
      { connection in
        try connection.openHTTP2()
        try attack.flood(connection)
      },
      run: { world in
        let other = try HostilePeer(
          try world.authority.issueCertificate(forHosts: ["127.0.0.1"]), { try $0.serve() })
        defer { other.stop() }
        async let attacked = world.ask()
        let meanwhile = try await world.ask(other.port)
        #expect(meanwhile.status == 200, "\(meanwhile)")
        let outcome = try await attacked
        #expect(outcome.status == nil, "\(outcome)")
        let afterwards = try await world.ask(other.port)
        #expect(afterwards.status == 200, "\(afterwards)")
        #expect(world.client.metrics.underWay == 0)
      })
  }
}
