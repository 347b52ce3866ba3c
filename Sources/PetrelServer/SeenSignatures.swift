import CloudKitModel

/// The signatures of one key that came within the date window, so that none is taken twice.
///
/// Memory is bounded: when there are too many, those with the oldest dates are forgotten, and from
/// then on requests with such old dates are refused. Under heavy load the window is narrower, and
/// never does a signature come through twice.
///
/// A clock that is set back brings dates into the window again whose signatures were dropped: these are
/// refused, up to the moment itself. Who signs a request when it is sent has a later date.
///
/// A signature is known by its number r. Of the two signatures (r, s) and (r, n − s) one can be made
/// from the other without the key, and both are valid.
struct SeenSignatures: Sendable {
  enum Verdict: Sendable, Hashable {
    case new
    case seen
    /// The date is so old that it cannot be told any more.
    case forgotten
  }

  private struct Mark: Hashable {
    var high: UInt64
    var low: UInt64
  }

  let capacity: Int
  private(set) var count = 0
  /// By the dates of their requests, in seconds.
  private var marks: [Int64: Set<Mark>] = [:]
  /// Dates up to this one, in seconds, are forgotten.
  private var forgotten = Int64.min
  /// What is older, in seconds, was dropped.
  private var lastHorizon = Int64.min

  /// - Parameter capacity: how many signatures are remembered.
  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Takes a signature in, unless it was there.
  ///
  /// - Parameters:
  ///   - signature: the number r, 32 bytes.
  ///   - now: the server's time.
  ///   - window: requests with dates that are so many seconds older are refused without asking here.
  /// - Complexity: O(1), and O(seconds of the window) for each second that is dropped.
  mutating func insert(
    _ signature: some Sequence<UInt8>, date: Timestamp, now: Timestamp, window: Double
  ) -> Verdict {
    drop(before: Self.second(now.advanced(bySeconds: -window)), now: Self.second(now))
    let second = Self.second(date)
    guard second > forgotten else { return .forgotten }
    var mark = Mark(high: 0, low: 0)
    for byte in signature.prefix(16) {
      mark.high = mark.high << 8 | mark.low >> 56
      mark.low = mark.low << 8 | UInt64(byte)
    }
    guard marks[second, default: []].insert(mark).inserted else { return .seen }
    count += 1
    while count > capacity, let oldest = marks.keys.min() {
      count -= marks.removeValue(forKey: oldest)?.count ?? 0
      forgotten = max(forgotten, oldest)
    }
    return .new
  }

  private mutating func drop(before horizon: Int64, now: Int64) {
    guard horizon != lastHorizon else { return }
    let dropped = lastHorizon
    lastHorizon = horizon
    guard horizon > dropped else {
      forgotten = max(min(forgotten, now), min(dropped - 1, now))
      return
    }
    for second in marks.keys where second < horizon {
      count -= marks.removeValue(forKey: second)?.count ?? 0
    }
  }

  /// Rounded down.
  private static func second(_ timestamp: Timestamp) -> Int64 {
    let (quotient, remainder) = timestamp.milliseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
