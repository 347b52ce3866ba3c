/// Frames that a server sends over HTTP/2 although it should not.
public struct HostileFrames: Sendable, CustomStringConvertible {
  public var description: String
  /// For the stream of a request that is open.
  public var bytes: @Sendable (UInt32) -> [UInt8]

  public init(_ description: String, _ bytes: @escaping @Sendable (UInt32) -> [UInt8]) {
    self.description = description
    self.bytes = bytes
  }

  /// Sends them again and again, until the client cuts the connection.
  public func flood(_ connection: HostileConnection) throws {
    let piece = bytes(try connection.nextRequest())
    let many = [UInt8]((0..<max(1, 16_384 / piece.count)).flatMap { _ in piece })
    while true { try connection.write(many) }
  }

  /// Frames that cost work and bring nothing, each to be repeated without end.
  public static let floods = [
    HostileFrames("PING") { _ in HTTP2Frame(.ping, [UInt8](repeating: 1, count: 8)).bytes },
    HostileFrames("acknowledgements of PING") { _ in
      HTTP2Frame(
        .ping, flags: HTTP2Frame.acknowledgement, [UInt8](repeating: 1, count: 8)
      ).bytes
    },
    HostileFrames("SETTINGS") { _ in HTTP2Frame.settings([(4, 65_535)]).bytes },
    HostileFrames("SETTINGS that change the limit") { _ in
      HTTP2Frame.settings([(3, 5)]).bytes + HTTP2Frame.settings([(3, 6)]).bytes
    },
    HostileFrames("PRIORITY") { HTTP2Frame(.priority, stream: $0, [0, 0, 0, 0, 1]).bytes },
    HostileFrames("frames of no known type") { _ in HTTP2Frame(HTTP2Frame.Kind(0x42)).bytes },
    HostileFrames("GOAWAY") { HTTP2Frame.goAway(lastStream: $0).bytes },
    HostileFrames("empty DATA") { HTTP2Frame(.data, stream: $0).bytes },
    HostileFrames("interim answers") { HTTP2Frame.headers($0, [(":status", "103")]).bytes },
    HostileFrames("resets of a stream that is closed") {
      HTTP2Frame(.reset, stream: $0, [0, 0, 0, 8]).bytes
    },
    HostileFrames("DATA of a stream that is closed") {
      HTTP2Frame(.reset, stream: $0, [0, 0, 0, 8]).bytes
        + HTTP2Frame(.data, stream: $0, [UInt8](repeating: 0, count: 16_384)).bytes
    },
    HostileFrames("CONTINUATION") {
      HTTP2Frame(.headers, stream: $0, [0x88]).bytes
        + HTTP2Frame(.continuation, stream: $0, [0x40, 1, 0x61, 1, 0x62]).bytes
    },
  ]
}
