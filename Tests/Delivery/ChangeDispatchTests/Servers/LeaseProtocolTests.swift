import ProtocolModels
import Testing

struct LeaseProtocolTests {
  @Test(
    "logs each change once and forgets none, with crashes, pauses and lost leases at any step",
    arguments: [
      LeaseModel.Limits(servers: 2, saves: 2, strikes: 1, crashes: 1),
      LeaseModel.Limits(servers: 2, saves: 3, strikes: 0, crashes: 0),
      LeaseModel.Limits(servers: 3, saves: 1, strikes: 1, crashes: 1),
    ])
  func isSound(_ limits: LeaseModel.Limits) {
    guard case .sound(let states) = LeaseModel.explore(limits) else {
      Issue.record("\(LeaseModel.explore(limits))")
      return
    }
    #expect(states > 1_000)
    print("the lease protocol is sound in \(states) states with \(limits)")
  }

  @Test("needs each of its rules", arguments: LeaseModel.Flaw.allCases)
  func needsItsRules(_ flaw: LeaseModel.Flaw) {
    let verdict = LeaseModel.explore(
      LeaseModel.Limits(servers: 2, saves: 3, strikes: 1, crashes: 0), flaw: flaw)
    let repeats = flaw == .completesBlindly || flaw == .dispatchesWithoutNumber
    #expect(verdict == (repeats ? .logWrong : .forgotten))
  }
}
