/// How much a peer may send beside what it was asked for: pings, settings, interim answers, bodies of
/// requests that were broken off.
///
/// All of that costs work and brings nothing, and each kind has its own flood (CVE-2019-9512, -9515,
/// -9518 and others). So what counts is what the bytes were for, as in nginx: beside answers there may
/// be eight times as much, a mebibyte, and a kibibyte a second for connections that last.
///
/// Times are nanoseconds of a clock that only goes forward.
struct InputAllowance: Sendable {
  private static let factor = 8
  private static let burst = 1 << 20
  private static let perSecond: Int64 = 1 << 10

  private let began: Int64
  private(set) var total = 0
  private(set) var useful = 0

  init(since now: Int64 = 0) {
    began = now
  }

  mutating func received(_ count: Int) { total += count }

  /// So many bytes are of answers that are waited for.
  mutating func used(_ count: Int) { useful += count }

  func isExceeded(at now: Int64) -> Bool {
    let seconds = (now - began) / 1_000_000_000
    return total > Self.factor * useful + Self.burst + Int(seconds * Self.perSecond)
  }
}
