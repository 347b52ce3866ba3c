import ProtocolModels
import Testing

struct DivisionProtocolTests {
  @Test(
    "notifies everybody of each change once, with crashes and lost leases while it is divided anew",
    arguments: [
      DivisionModel.Limits(saves: 2, divisions: 1, losses: 1, crashes: 0),
      DivisionModel.Limits(saves: 2, divisions: 2, losses: 0, crashes: 0),
      DivisionModel.Limits(saves: 2, divisions: 1, losses: 0, crashes: 1),
    ])
  func isSound(_ limits: DivisionModel.Limits) {
    guard case .sound(let states) = DivisionModel.explore(limits) else {
      Issue.record("\(DivisionModel.explore(limits))")
      return
    }
    #expect(states > 1_000)
    print("the division of databases is sound in \(states) states with \(limits)")
  }

  @Test("needs each of its rules", arguments: DivisionModel.Flaw.allCases)
  func needsItsRules(_ flaw: DivisionModel.Flaw) {
    let verdict = DivisionModel.explore(
      DivisionModel.Limits(saves: 3, divisions: 2, losses: 0, crashes: 0), flaw: flaw)
    #expect(verdict == (flaw == .leavesNoWord ? .forgotten : .logWrong))
  }
}
