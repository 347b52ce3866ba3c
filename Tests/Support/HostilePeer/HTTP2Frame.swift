/// A frame of HTTP/2 as bytes (RFC 9113, section 4.1), of any content.
public struct HTTP2Frame: Sendable {
  public struct Kind: Sendable, Hashable {
    public let rawValue: UInt8

    public init(_ rawValue: UInt8) { self.rawValue = rawValue }

    public static let data = Kind(0)
    public static let headers = Kind(1)
    public static let priority = Kind(2)
    public static let reset = Kind(3)
    public static let settings = Kind(4)
    public static let promise = Kind(5)
    public static let ping = Kind(6)
    public static let goAway = Kind(7)
    public static let windowUpdate = Kind(8)
    public static let continuation = Kind(9)
  }

  /// Of headers and bodies.
  public static let endStream: UInt8 = 1
  public static let endHeaders: UInt8 = 4
  public static let acknowledgement: UInt8 = 1
  /// Bytes with which a client begins.
  static let preface = 24

  public var type: Kind
  public var flags: UInt8
  public var stream: UInt32
  public var payload: [UInt8]

  public init(_ type: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
    self.type = type
    self.flags = flags
    self.stream = stream
    self.payload = payload
  }

  public var bytes: [UInt8] {
    let size = UInt32(payload.count)
    return [UInt8(size >> 16), UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF), type.rawValue, flags]
      + Self.bytes(of: stream) + payload
  }

  static func first(in bytes: [UInt8]) -> (HTTP2Frame, size: Int)? {
    guard bytes.count >= 9 else { return nil }
    let size = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
    guard bytes.count >= 9 + size else { return nil }
    let stream = bytes[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return (
      HTTP2Frame(
        Kind(bytes[3]), flags: bytes[4], stream: stream, Array(bytes[9..<9 + size])),
      9 + size
    )
  }

  public static func bytes(of number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(number >> $0 & 0xFF) }
  }

  public static func settings(_ settings: [(UInt16, UInt32)]) -> HTTP2Frame {
    HTTP2Frame(
      .settings,
      settings.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + bytes(of: $0.1) })
  }

  public static func goAway(lastStream: UInt32, code: UInt32 = 0) -> HTTP2Frame {
    HTTP2Frame(.goAway, bytes(of: lastStream) + bytes(of: code))
  }

  /// An answer's header fields, without compression.
  public static func headers(
    _ stream: UInt32, _ fields: [(String, String)], isEnd: Bool = false
  ) -> HTTP2Frame {
    HTTP2Frame(
      .headers, flags: endHeaders | (isEnd ? endStream : 0), stream: stream,
      fields.flatMap { [0] + text($0.0) + text($0.1) })
  }

  /// A string of HPACK that is not compressed (RFC 7541, section 5.2).
  public static func text(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
    var rest = bytes.count - 127
    var size: [UInt8] = [127]
    while rest >= 128 {
      size.append(UInt8(rest % 128 + 128))
      rest /= 128
    }
    return size + [UInt8(rest)] + bytes
  }
}
