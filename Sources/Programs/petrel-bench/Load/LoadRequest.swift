import Foundation

/// An HTTP request in its final bytes. Only the record names change between two sends, so a send
/// costs little.
struct LoadRequest: Sendable {
  /// The bytes of the request, header included.
  private(set) var bytes: [UInt8]
  /// The places of the record names in ``bytes``. Each name has ``nameLength`` bytes.
  private let names: [Int]
  /// Whether each name contains the time of sending (``sendingTime(inName:)``).
  private let bearsTime: Bool

  /// The bytes of a name, which has the format of a UUID.
  static let nameLength = 36

  /// Creates a POST request.
  ///
  /// - Parameters:
  ///   - path: The path with its query.
  ///   - body: The JSON text, with placeholders of ``nameLength`` bytes for the names.
  ///   - names: The places of the placeholders in the body.
  ///   - bearsTime: Whether each name contains the time of sending.
  init(path: String, body: [UInt8], names: [Int], bearsTime: Bool = false) {
    let head = Array(
      """
      POST \(path) HTTP/1.1\r
      Host: 127.0.0.1\r
      Content-Type: application/json\r
      Content-Length: \(body.count)\r
      \r

      """.utf8)
    bytes = head + body
    self.names = names.map { head.count + $0 }
    self.bearsTime = bearsTime
  }

  /// Returns the time when the request for a record was sent, in seconds of ``monotonicSeconds()``.
  ///
  /// - Parameter name: A name of a request with `bearsTime`.
  /// - Returns: `nil` if the name has no time in it.
  static func sendingTime(inName name: some Sequence<UInt8>) -> Double? {
    let digits = name.prefix(19).filter { $0 != UInt8(ascii: "-") }
    return Int(String(decoding: digits, as: UTF8.self), radix: 16).map { Double($0) / 1e9 }
  }

  /// Writes new names into the bytes. The first 16 digits are random, or the time in nanoseconds if
  /// names contain the time.
  mutating func rename(using random: inout SplitMix64) {
    for start in names {
      var bits: UInt64 = 0
      for offset in 0..<Self.nameLength {
        switch offset {
        case 8, 13, 18, 23: bytes[start + offset] = UInt8(ascii: "-")
        default:
          if offset == 0 || offset == 19 {
            bits = bearsTime && offset == 0 ? UInt64(monotonicSeconds() * 1e9) : random.next()
          }
          bytes[start + offset] = Self.digits[Int(bits >> 60)]
          bits <<= 4
        }
      }
    }
  }

  private static let digits = Array("0123456789ABCDEF".utf8)
}
