/// The pushes that one waiting caller needs: their number, the rule that selects them, and the ones
/// that have come.
struct PushWaiter: Sendable {
  let count: Int
  let isWanted: @Sendable (ReceivedPush) -> Bool
  /// The counted pushes, oldest first, at most `count`.
  private(set) var found: [ReceivedPush] = []

  init(count: Int, where isWanted: @escaping @Sendable (ReceivedPush) -> Bool) {
    self.count = count
    self.isWanted = isWanted
  }

  var isSatisfied: Bool { found.count >= count }

  mutating func offer(_ push: ReceivedPush) {
    if !isSatisfied, isWanted(push) { found.append(push) }
  }
}
