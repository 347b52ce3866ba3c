/// The newest pushes that a simulator received, up to a limit: a ring.
struct PushLog: Sendable {
  /// The most pushes kept, at least 1.
  private let limit: Int
  /// The ring's slots, which fill up to the limit.
  private var slots: [ReceivedPush] = []
  /// The index of the oldest push, once the limit is reached.
  private var oldest = 0

  /// Creates an empty log; a limit below 1 counts as 1.
  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// The pushes, oldest first.
  ///
  /// - Complexity: O(*n*).
  var pushes: [ReceivedPush] { Array(slots[oldest...] + slots[..<oldest]) }

  /// Adds a push. A full log drops its oldest push.
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

  /// Drops all pushes.
  mutating func removeAll() {
    slots = []
    oldest = 0
  }
}
