/// The newest pushes that a simulator received, up to a limit.
struct PushLog: Sendable {
  private let limit: Int
  private var slots: [ReceivedPush] = []
  /// Where the oldest push is, once the limit is reached.
  private var oldest = 0

  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// The pushes, oldest first.
  ///
  /// - Complexity: O(*n*).
  var pushes: [ReceivedPush] { Array(slots[oldest...] + slots[..<oldest]) }

  /// Adds a push, and lets go of the oldest when there are too many.
  ///
  /// - Complexity: O(1).
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
