import Testing

@Suite("The protocol of divided databases")
struct DivisionProtocolTests {
  private enum Verdict: Equatable {
    case sound(states: Int)
    /// Somebody was notified twice, out of order, or not at all.
    case logWrong
    /// Changes wait, and nothing will be done about it by itself.
    case forgotten
  }

  /// Goes through every state that can be reached.
  private func explore(_ limits: DivisionModel.Limits, flaw: DivisionModel.Flaw? = nil) -> Verdict {
    let start = DivisionModel()
    var known: Set<DivisionModel> = [start]
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
    "notifies everybody of each change once, with crashes and lost leases while it is divided anew",
    arguments: [
      DivisionModel.Limits(saves: 2, divisions: 1, losses: 1, crashes: 0),
      DivisionModel.Limits(saves: 2, divisions: 2, losses: 0, crashes: 0),
      DivisionModel.Limits(saves: 2, divisions: 1, losses: 0, crashes: 1),
    ])
  func isSound(_ limits: DivisionModel.Limits) {
    guard case .sound(let states) = explore(limits) else {
      Issue.record("\(explore(limits))")
      return
    }
    #expect(states > 1_000)
    print("the division of databases is sound in \(states) states with \(limits)")
  }

  @Test("needs each of its rules", arguments: DivisionModel.Flaw.allCases)
  func needsItsRules(_ flaw: DivisionModel.Flaw) {
    let verdict = explore(
      DivisionModel.Limits(saves: 3, divisions: 2, losses: 0, crashes: 0), flaw: flaw)
    #expect(verdict == (flaw == .leavesNoWord ? .forgotten : .logWrong))
  }
}
