/// The newest pushes that a simulator received, up to a limit. They are in a ring buffer.
struct ReceivedPushLog: Sendable {
  /// The greatest number of kept pushes, at least 1.
  private let limit: Int
  /// The kept pushes. When their number has reached the limit, a new push replaces the oldest one.
  private var slots: [ReceivedPush] = []
  /// The index of the oldest push in `slots`; 0 until the limit is reached.
  private var oldest = 0

  /// Creates an empty log; a limit below 1 counts as 1.
  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// The kept pushes, oldest first.
  ///
  /// - Complexity: O(*n*) for *n* kept pushes.
  var pushes: [ReceivedPush] { Array(slots[oldest...] + slots[..<oldest]) }

  /// If the log is full, the oldest push is deleted.
  mutating func append(_ push: ReceivedPush) {
    if slots.count < limit {
      slots.append(push)
    } else {
      slots[oldest] = push
      oldest = (oldest + 1) % limit
    }
  }

  mutating func removeAll() {
    slots = []
    oldest = 0
  }
}
