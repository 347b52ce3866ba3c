import PropertyTesting
import Testing

@testable import HistoryChecking

struct HistoryCheckerTests {
  @Test("What a server that keeps its promises does is allowed", arguments: [1, 2, 4, 8])
  func allowed(width: Int) {
    for seed in Seeds.some(60) {
      let history = SimulatedServer.history(requests: 120, width: width, seed: seed)
      let violations = HistoryChecker.violations(of: history)
      #expect(violations.isEmpty, "seed \(seed): \(violations.prefix(3))")
      if !violations.isEmpty { break }
    }
  }

  @Test("Every planted flaw is found, as what it breaks", arguments: HistoryFlaw.allCases)
  func flaws(flaw: HistoryFlaw) {
    var planted = 0
    let seeds = Seeds.some(40)
    for seed in seeds {
      let history = SimulatedServer.history(requests: 120, width: 3, seed: seed)
      var generator = SeededGenerator(seed: seed + 1_000)
      guard let flawed = flaw.planted(in: history, using: &generator) else { continue }
      planted += 1
      let violations = HistoryChecker.violations(of: flawed)
      #expect(
        violations.contains { $0.promise == flaw.promise },
        "seed \(seed): \(flaw) is not among \(violations.prefix(3))")
    }
    #expect(planted > seeds.count / 4, "there must have been places for it")
  }

  @Test("After a deletion in doubt a record may be absent at any time, after a refused one not")
  func deletionInDoubt() {
    let key = RecordKey(database: "anna", zone: "zone", name: "record")
    let saved = Sight.record(tag: "tag", mark: "mark")
    var history = History()
    history.reads = [
      RecordRead(user: "anna", key: key, span: Span(began: 1, ended: 2), sight: .absent),
      RecordRead(user: "anna", key: key, span: Span(began: 101, ended: 102), sight: saved),
    ]
    func write(_ effect: RecordWrite.Effect, from began: Int64, _ outcome: RecordWrite.Outcome) {
      history.writes.append(
        RecordWrite(
          user: "anna", device: "phone", key: key, effect: effect, condition: .none,
          span: Span(began: began, ended: outcome == .unknown ? Span.never : began + 9),
          outcome: outcome))
    }
    write(.save(mark: "mark"), from: 11, .done(tag: "tag"))
    for (outcome, isAllowed) in [(RecordWrite.Outcome.unknown, true), (.notDone, false)] {
      write(.delete, from: 31, outcome)
      #expect(HistoryChecker.violations(of: history).isEmpty)
      var stale = history
      stale.reads[1].sight = .absent
      #expect(HistoryChecker.violations(of: stale).isEmpty == isAllowed, "\(outcome)")
      var generator = SeededGenerator(seed: 1)
      let planted = HistoryFlaw.staleLook.planted(in: history, using: &generator)
      #expect(planted?.reads.map(\.sight) == (isAllowed ? nil : stale.reads.map(\.sight)))
      history.writes.removeLast()
    }
  }

  @Test("An order is found exactly where trying all orders finds one")
  func search() {
    var allowed = 0
    let seeds = Seeds.some(3_000)
    for seed in seeds {
      var generator = SeededGenerator(seed: seed)
      let operations = (0..<Int.random(in: 1...6, using: &generator)).map { label in
        let began = Int64.random(in: 0..<20, using: &generator)
        let condition: LinearizabilitySearch.Condition =
          switch Int.random(in: 0..<4, using: &generator) {
          case 0: .any
          case 1: .notEqual(Int.random(in: 0...2, using: &generator))
          case 2: .present(not: Int.random(in: 1...2, using: &generator))
          default: .equal(Int.random(in: 0...2, using: &generator))
          }
        return LinearizabilitySearch.Operation(
          span: Span(began: began, ended: began + Int64.random(in: 0..<12, using: &generator)),
          condition: condition,
          result: generator.chance(1, in: 2) ? Int.random(in: 0...2, using: &generator) : nil,
          isOptional: generator.chance(1, in: 5), label: label)
      }
      let isFound = (try? LinearizabilitySearch(operations).order()) != nil
      let isThere = Self.hasOrder(operations, 0)
      if isThere { allowed += 1 }
      #expect(isFound == isThere, "seed \(seed)")
      if isFound != isThere { break }
    }
    #expect(allowed > seeds.count / 10 && allowed < seeds.count * 9 / 10)
  }

  /// Tries every order, by the definition.
  private static func hasOrder(_ rest: [LinearizabilitySearch.Operation], _ state: Int) -> Bool {
    if rest.allSatisfy(\.isOptional) { return true }
    for (place, operation) in rest.enumerated() {
      let isHindered = rest.contains {
        !$0.isOptional && $0.label != operation.label && $0.span.isBefore(operation.span)
      }
      let isTrue =
        switch operation.condition {
        case .any: true
        case .equal(let wanted): state == wanted
        case .notEqual(let unwanted): state != unwanted
        case .present(let unwanted): state != 0 && state != unwanted
        }
      if isHindered || !isTrue { continue }
      var left = rest
      left.remove(at: place)
      if hasOrder(left, operation.result ?? state) { return true }
    }
    return false
  }
}
