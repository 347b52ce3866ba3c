/// The limit on the bytes that a server sends to a client in addition to its answers. Examples:
/// pings, settings, interim answers, bodies of cancelled requests.
///
/// The client must process these bytes, but they are of no use. Each kind has its own flood attack
/// (CVE-2019-9512, -9515, -9518 and others). So one limit covers all kinds: it compares all bytes
/// with the bytes of answers, as nginx does. The total may be eight times the bytes of answers,
/// plus 1 MiB, plus 1 KiB for each second since the start of the count.
///
/// Times are nanoseconds of a monotonic clock.
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

  /// Counts bytes that belong to an answer. ``received(_:)`` must count the same bytes too.
  mutating func used(_ count: Int) { useful += count }

  func isExceeded(at now: Int64) -> Bool {
    let seconds = (now - began) / 1_000_000_000
    return total > Self.factor * useful + Self.burst + Int(seconds * Self.perSecond)
  }
}
