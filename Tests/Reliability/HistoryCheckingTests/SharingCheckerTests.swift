import PropertyTesting
import Testing

@testable import HistoryChecking

struct SharingCheckerTests {
  @Test("What a server does that keeps its promises about shares is allowed")
  func allowed() {
    for seed in Seeds.some(60) {
      let violations = SharingChecker.violations(of: SimulatedShares.history(seed: seed))
      #expect(violations.isEmpty, "seed \(seed): \(violations.prefix(3))")
      if !violations.isEmpty { break }
    }
  }

  @Test(
    "Every planted flaw about shares is found, as what it breaks", arguments: SharingFlaw.allCases)
  func flaws(flaw: SharingFlaw) {
    var planted = 0
    let seeds = Seeds.some(40)
    for seed in seeds {
      var generator = SeededGenerator(seed: seed + 1_000)
      guard
        let flawed = flaw.planted(in: SimulatedShares.history(seed: seed), using: &generator)
      else { continue }
      planted += 1
      let violations = SharingChecker.violations(of: flawed)
      #expect(
        violations.contains { $0.promise == flaw.promise },
        "seed \(seed): \(flaw) is not among \(violations.prefix(3))")
    }
    #expect(planted > seeds.count / 4, "there must have been places for it")
  }

  /// An end of the part at 20–29 in a share that the user accepted at 10–19, and a look at it.
  private func history(
    _ end: SharingHistory.PartEvent.Effect, isCertain: Bool = true, look began: Int64,
    hasSeen: Bool
  ) -> SharingHistory {
    var history = SharingHistory()
    func note(_ effect: SharingHistory.PartEvent.Effect, from began: Int64, isCertain: Bool = true)
    {
      history.parts.append(
        SharingHistory.PartEvent(
          user: "ben", share: "s", effect: effect, span: Span(began: began, ended: began + 9),
          isCertain: isCertain))
    }
    note(.invited, from: 0)
    note(.accepted, from: 10)
    note(end, from: 20, isCertain: isCertain)
    history.looks = [
      SharingHistory.Look(
        user: "ben", share: "s", span: Span(began: began, ended: began + 9), hasSeen: hasSeen)
    ]
    return history
  }

  @Test("A look beside a removal may see or not, and after the removal it may not")
  func besideRemoval() {
    for end in [SharingHistory.PartEvent.Effect.removed, .left] {
      for hasSeen in [true, false] {
        let beside = history(end, look: 25, hasSeen: hasSeen)
        #expect(SharingChecker.violations(of: beside).isEmpty)
        let after = history(end, look: 30, hasSeen: hasSeen)
        #expect(SharingChecker.violations(of: after).isEmpty != hasSeen)
        let doubtful = history(end, isCertain: false, look: 30, hasSeen: hasSeen)
        #expect(SharingChecker.violations(of: doubtful).isEmpty)
      }
    }
  }

  @Test("An acceptance beside a removal gives no access after it without an invitation")
  func acceptanceBesideRemoval() {
    for (end, isAllowed) in [(SharingHistory.PartEvent.Effect.removed, false), (.left, true)] {
      var history = history(end, look: 50, hasSeen: true)
      history.parts.append(
        SharingHistory.PartEvent(
          user: "ben", share: "s", effect: .accepted, span: Span(began: 25, ended: 40)))
      #expect(SharingChecker.violations(of: history).isEmpty == isAllowed)
    }
  }
}
