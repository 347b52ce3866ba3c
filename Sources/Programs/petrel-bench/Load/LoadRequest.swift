import Foundation

/// An HTTP request, as the bytes to send. Before each sending, only the record names in the bytes
/// change, so this takes little time.
struct LoadRequest: Sendable {
  private(set) var bytes: [UInt8]
  /// The index of each record name in ``bytes``. A name has ``nameLength`` bytes.
  private let names: [Int]
  /// Whether each name contains the time of sending, which ``sendingTime(inName:)`` returns.
  private let bearsTime: Bool

  /// The number of bytes in a name. A name has the format of a UUID.
  static let nameLength = 36

  /// Creates a POST request.
  ///
  /// - Parameters:
  ///   - body: The JSON text, with placeholders of ``nameLength`` bytes for the names.
  ///   - names: The index of each placeholder in the body.
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

  /// Returns the time at which the request with a record was sent, in seconds of
  /// ``monotonicSeconds()``.
  ///
  /// - Returns: `nil` if the beginning of the name is not a hexadecimal number.
  static func sendingTime(inName name: some Sequence<UInt8>) -> Double? {
    let digits = name.prefix(19).filter { $0 != UInt8(ascii: "-") }
    return Int(String(decoding: digits, as: UTF8.self), radix: 16).map { Double($0) / 1e9 }
  }

  /// Writes new names into the bytes. The first 16 hexadecimal digits of a name are random, or the
  /// present time in nanoseconds if names contain the time. The other digits are random.
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
