import Foundation

/// A request that is written before it is sent, since the load shares the machine with the server: only
/// the names of its records change from one time to the next.
struct LoadRequest: Sendable {
  private(set) var bytes: [UInt8]
  /// Where the names stand, each with as many bytes as ``nameLength``.
  private let names: [Int]
  /// Whether names bear the moment at which the request was sent (``sendingTime(inName:)``).
  private let bearsTime: Bool

  /// Bytes of a UUID, as which names are written.
  static let nameLength = 36

  /// - Parameter names: where the body has room for names.
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

  /// When the request was sent that made the record with this name, by ``monotonicSeconds()``; nil for
  /// a name that does not tell.
  static func sendingTime(inName name: some Sequence<UInt8>) -> Double? {
    let digits = name.prefix(19).filter { $0 != UInt8(ascii: "-") }
    return Int(String(decoding: digits, as: UTF8.self), radix: 16).map { Double($0) / 1e9 }
  }

  /// Gives every record a new name.
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
