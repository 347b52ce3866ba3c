/// A count of pushes of a kind, for a caller that waits until there are enough.
struct PushWaiter: Sendable {
  /// The number of pushes that are enough.
  let count: Int
  /// Selects the pushes that count.
  let isWanted: @Sendable (ReceivedPush) -> Bool
  /// The pushes that count, oldest first, at most `count`.
  private(set) var found: [ReceivedPush] = []

  /// Creates a count of 0.
  init(count: Int, where isWanted: @escaping @Sendable (ReceivedPush) -> Bool) {
    self.count = count
    self.isWanted = isWanted
  }

  /// Whether there are enough pushes.
  var isSatisfied: Bool { found.count >= count }

  /// Counts a push if it is of the kind and more are needed.
  mutating func offer(_ push: ReceivedPush) {
    if !isSatisfied, isWanted(push) { found.append(push) }
  }
}
