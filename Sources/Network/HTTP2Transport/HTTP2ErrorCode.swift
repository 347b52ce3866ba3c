/// A code in RST_STREAM and GOAWAY frames (RFC 9113 section 7).
public struct HTTP2ErrorCode: Sendable, Hashable, CustomStringConvertible {
  public var rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  public static let noError = HTTP2ErrorCode(rawValue: 0x0)
  public static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
  public static let internalError = HTTP2ErrorCode(rawValue: 0x2)
  public static let flowControlError = HTTP2ErrorCode(rawValue: 0x3)
  public static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x4)
  public static let streamClosed = HTTP2ErrorCode(rawValue: 0x5)
  public static let frameSizeError = HTTP2ErrorCode(rawValue: 0x6)
  public static let refusedStream = HTTP2ErrorCode(rawValue: 0x7)
  public static let cancel = HTTP2ErrorCode(rawValue: 0x8)
  public static let compressionError = HTTP2ErrorCode(rawValue: 0x9)
  public static let connectError = HTTP2ErrorCode(rawValue: 0xA)
  public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0xB)
  public static let inadequateSecurity = HTTP2ErrorCode(rawValue: 0xC)
  public static let http11Required = HTTP2ErrorCode(rawValue: 0xD)

  /// The code that the RFC calls so.
  public init?(name: String) {
    guard let index = Self.names.firstIndex(of: name) else { return nil }
    rawValue = UInt32(index)
  }

  /// The name in the RFC, or the number.
  public var description: String {
    let index = Int(rawValue)
    return Self.names.indices.contains(index)
      ? Self.names[index] : "0x\(String(rawValue, radix: 16))"
  }

  private static let names = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
    "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
    "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]
}
