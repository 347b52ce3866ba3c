/// An error code of RST_STREAM and GOAWAY frames (RFC 9113 section 7).
public struct HTTP2ErrorCode: Sendable, Hashable, CustomStringConvertible {
  /// The number on the wire. A peer may send numbers that the RFC does not define.
  public var rawValue: UInt32

  /// Creates a code from any number.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// `NO_ERROR`: an orderly end, without an error.
  public static let noError = HTTP2ErrorCode(rawValue: 0x0)
  /// `PROTOCOL_ERROR`: a violation of the protocol without a code of its own.
  public static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
  /// `INTERNAL_ERROR`: an unexpected failure inside an endpoint.
  public static let internalError = HTTP2ErrorCode(rawValue: 0x2)
  /// `FLOW_CONTROL_ERROR`: an endpoint sent more than its window allows.
  public static let flowControlError = HTTP2ErrorCode(rawValue: 0x3)
  /// `SETTINGS_TIMEOUT`: the acknowledgement of a SETTINGS frame did not come in time.
  public static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x4)
  /// `STREAM_CLOSED`: a frame came for a half-closed stream.
  public static let streamClosed = HTTP2ErrorCode(rawValue: 0x5)
  /// `FRAME_SIZE_ERROR`: a frame has an invalid size.
  public static let frameSizeError = HTTP2ErrorCode(rawValue: 0x6)
  /// `REFUSED_STREAM`: the endpoint refused the stream before any processing, so the request is
  /// safe to repeat.
  public static let refusedStream = HTTP2ErrorCode(rawValue: 0x7)
  /// `CANCEL`: the endpoint does not need the stream any more.
  public static let cancel = HTTP2ErrorCode(rawValue: 0x8)
  /// `COMPRESSION_ERROR`: the state of the field compression (HPACK) is lost.
  public static let compressionError = HTTP2ErrorCode(rawValue: 0x9)
  /// `CONNECT_ERROR`: a connection made by `CONNECT` was reset or closed.
  public static let connectError = HTTP2ErrorCode(rawValue: 0xA)
  /// `ENHANCE_YOUR_CALM`: the peer causes too much load.
  public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0xB)
  /// `INADEQUATE_SECURITY`: the connection does not meet the requirements of HTTP/2 on TLS.
  public static let inadequateSecurity = HTTP2ErrorCode(rawValue: 0xC)
  /// `HTTP_1_1_REQUIRED`: the endpoint wants HTTP/1.1 for this request.
  public static let http11Required = HTTP2ErrorCode(rawValue: 0xD)

  /// Creates a code from its name in RFC 9113, such as `REFUSED_STREAM`; `nil` for any other text.
  public init?(name: String) {
    guard let index = Self.names.firstIndex(of: name) else { return nil }
    rawValue = UInt32(index)
  }

  /// The name in RFC 9113, or the number in hexadecimal if the RFC does not define it.
  public var description: String {
    let index = Int(rawValue)
    return Self.names.indices.contains(index)
      ? Self.names[index] : "0x\(String(rawValue, radix: 16))"
  }

  /// The names of RFC 9113. The index of a name in this array is its code.
  private static let names = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
    "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
    "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]
}
