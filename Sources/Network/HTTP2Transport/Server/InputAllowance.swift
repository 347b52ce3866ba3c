/// The limit on bytes that a peer sends beside the answers: pings, settings, interim answers,
/// bodies of cancelled requests.
///
/// Such bytes cost work and bring nothing, and each kind has its own flood attack (CVE-2019-9512,
/// -9515, -9518 and others). So the limit counts what the bytes are for, as nginx does. The total
/// may be eight times the bytes of answers, plus 1 MiB, plus 1 KiB for each second of the
/// connection.
///
/// Times are nanoseconds of a monotonic clock.
struct InputAllowance: Sendable {
  private static let factor = 8
  private static let burst = 1 << 20
  private static let perSecond: Int64 = 1 << 10

  private let began: Int64
  /// All bytes that came.
  private(set) var total = 0
  /// The bytes of awaited answers.
  private(set) var useful = 0

  /// Starts the count at `now`.
  init(since now: Int64 = 0) {
    began = now
  }

  /// Counts bytes that came, of any kind.
  mutating func received(_ count: Int) { total += count }

  /// Counts bytes of an awaited answer. They must also be counted by ``received(_:)``.
  mutating func used(_ count: Int) { useful += count }

  /// Whether the peer sent more than it may by `now`.
  func isExceeded(at now: Int64) -> Bool {
    let seconds = (now - began) / 1_000_000_000
    return total > Self.factor * useful + Self.burst + Int(seconds * Self.perSecond)
  }
}
