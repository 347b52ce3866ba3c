/// The pushes that one waiting caller needs: their number, the rule that selects them, and the ones
/// that have come.
struct PushWaiter: Sendable {
  /// The number of pushes that the caller needs.
  let count: Int
  /// Returns whether a push counts.
  let isWanted: @Sendable (ReceivedPush) -> Bool
  /// The counted pushes, oldest first, at most `count`.
  private(set) var found: [ReceivedPush] = []

  /// Creates a waiter that has counted no push.
  init(count: Int, where isWanted: @escaping @Sendable (ReceivedPush) -> Bool) {
    self.count = count
    self.isWanted = isWanted
  }

  /// Whether `count` pushes have come.
  var isSatisfied: Bool { found.count >= count }

  /// Counts a push if it is wanted and the caller needs more pushes.
  mutating func offer(_ push: ReceivedPush) {
    if !isSatisfied, isWanted(push) { found.append(push) }
  }
}
