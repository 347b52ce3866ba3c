import Testing

@Suite("The lease protocol")
struct LeaseProtocolTests {
  private enum Verdict: Equatable {
    case sound(states: Int)
    /// A change was logged twice or out of order.
    case logWrong
    /// Changes wait, and nothing will be done about it by itself.
    case forgotten
  }

  /// Goes through every state that can be reached.
  private func explore(_ limits: LeaseModel.Limits, flaw: LeaseModel.Flaw? = nil) -> Verdict {
    let start = LeaseModel(limits: limits)
    var known: Set<LeaseModel> = [start]
    var queue = [start]
    while let state = queue.popLast() {
      if state.isLogWrong { return .logWrong }
      let steps = state.steps(flaw: flaw)
      if steps.isEmpty, state.hasWaitingChanges { return .forgotten }
      for next in steps + state.events(limits: limits, flaw: flaw)
      where known.insert(next).inserted {
        queue.append(next)
      }
    }
    return .sound(states: known.count)
  }

  @Test(
    "logs each change once and forgets none, with crashes, pauses and lost leases at any step",
    arguments: [
      LeaseModel.Limits(servers: 2, saves: 2, strikes: 1, crashes: 1),
      LeaseModel.Limits(servers: 2, saves: 3, strikes: 1, crashes: 0),
      LeaseModel.Limits(servers: 3, saves: 1, strikes: 1, crashes: 1),
    ])
  func isSound(_ limits: LeaseModel.Limits) {
    guard case .sound(let states) = explore(limits) else {
      Issue.record("\(explore(limits))")
      return
    }
    #expect(states > 1_000)
    print("the lease protocol is sound in \(states) states with \(limits)")
  }

  @Test("needs each of its rules", arguments: LeaseModel.Flaw.allCases)
  func needsItsRules(_ flaw: LeaseModel.Flaw) {
    let verdict = explore(
      LeaseModel.Limits(servers: 2, saves: 3, strikes: 1, crashes: 0), flaw: flaw)
    #expect(verdict == (flaw == .completesBlindly ? .logWrong : .forgotten))
  }
}
