import PropertyTesting
import Testing

@testable import CloudKit

struct PendingChangesTests {
  private enum Change: PendingChange {
    case save(Int)
    case delete(Int)

    var target: Int {
      switch self {
      case .save(let target), .delete(let target): target
      }
    }
  }

  /// Adds changes one after the other, and returns what is pending then.
  private func added(_ added: Change...) -> [Change] {
    var changes = PendingChanges<Change>()
    for change in added { changes.add(change) }
    return changes.pending
  }

  @Test("The same change stays at its place; another one of its record comes last, in its stead")
  func merging() {
    #expect(added(.save(1), .save(2), .save(1)) == [.save(1), .save(2)])
    #expect(added(.save(1), .save(2), .delete(1)) == [.save(2), .delete(1)])
    #expect(added(.delete(1), .delete(2), .save(1)) == [.delete(2), .save(1)])
    #expect(added(.save(1), .delete(1), .save(1)) == [.save(1)])
    #expect(added(.delete(1), .delete(1)) == [.delete(1)])
  }

  @Test("Every sequence of one to three additions and removals gives the list of the rules")
  func sequences() {
    let changes: [Change] = [.save(1), .delete(1), .save(2), .delete(2)]
    let steps = changes.flatMap {
      [(change: $0, isAddition: true), (change: $0, isAddition: false)]
    }
    var sequences: [[(change: Change, isAddition: Bool)]] = [[]]
    for _ in 0..<3 {
      sequences = sequences.flatMap { sequence in steps.map { sequence + [$0] } }
      for sequence in sequences {
        var pending = PendingChanges<Change>()
        var expected: [Change] = []
        for (change, isAddition) in sequence {
          if isAddition {
            pending.add(change)
            if expected.contains(change) { continue }
            expected.removeAll { $0.target == change.target }
            expected.append(change)
          } else {
            pending.remove(change)
            expected.removeAll { $0 == change }
          }
        }
        #expect(pending.pending == expected, "\(sequence)")
      }
    }
    #expect(sequences.count == 512)
  }

  @Test("100,000 changes are added, sent in batches and removed in their order")
  func many() {
    var changes = PendingChanges<Change>()
    for target in 0..<100_000 { changes.add(.save(target)) }
    for target in 0..<100_000 { changes.add(.save(target)) }
    for begin in stride(from: 0, to: 100_000, by: 2_500) {
      let batch = changes.pending.prefix(2_500)
      #expect(batch.first == .save(begin))
      changes.beginSending(batch)
      for change in batch { changes.endSending(change, isRetried: false) }
    }
    #expect(changes.isEmpty && changes.unsent.isEmpty)
  }

  @Test("What is not pending cannot be removed")
  func removing() {
    var changes = PendingChanges<Change>()
    changes.add(.save(1))
    changes.remove(.delete(1))
    changes.remove(.save(2))
    #expect(changes.pending == [.save(1)])
    changes.remove(.save(1))
    #expect(changes.isEmpty && changes.pending.isEmpty)
  }

  @Test("A change that is added again in flight is pending, whatever the answer")
  func again() {
    for isRetried in [false, true] {
      var changes = PendingChanges<Change>()
      changes.add(.save(1))
      changes.beginSending([.save(1)])
      #expect(changes.isEmpty && changes.unsent == [.save(1)])
      changes.add(.save(1))
      #expect(changes.pending == [.save(1)] && changes.unsent == [.save(1)])
      changes.endSending(.save(1), isRetried: isRetried)
      #expect(changes.pending == [.save(1)])
    }
  }

  @Test(
    "A change that failed for a while is pending at its former place, unless there is a newer one")
  func retrying() {
    var changes = PendingChanges<Change>()
    for target in 1...3 { changes.add(.save(target)) }
    changes.beginSending([.save(1), .save(2)])
    changes.add(.delete(2))
    for target in 1...2 { changes.endSending(.save(target), isRetried: true) }
    #expect(changes.pending == [.save(1), .save(3), .delete(2)])
  }

  @Test("What was removed in flight, or before another account came, does not return")
  func forgetting() {
    var changes = PendingChanges<Change>()
    for target in 1...2 { changes.add(.save(target)) }
    changes.beginSending([.save(1), .save(2)])
    changes.remove(.save(1))
    changes.endSending(.save(1), isRetried: true)
    #expect(changes.isEmpty && changes.unsent == [.save(2)])
    changes.removeAll()
    changes.add(.save(3))
    changes.endSending(.save(2), isRetried: true)
    #expect(changes.pending == [.save(3)])
  }

  @Test("Random changes are pending as in a plain list", arguments: Seeds.some(50))
  func model(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var changes = PendingChanges<Change>()
    // The changes in their order. A change has a number, by which it returns to its place.
    var pending: [(number: Int, change: Change)] = []
    var flights: [(number: Int, change: Change)] = []
    for number in 0..<400 {
      let target = Int.random(in: 0..<6, using: &generator)
      let change = Bool.random(using: &generator) ? Change.save(target) : .delete(target)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0...3:
        changes.add(change)
        if !pending.contains(where: { $0.change == change }) {
          pending.removeAll { $0.change.target == target }
          pending.append((number, change))
        }
      case 4:
        changes.remove(change)
        pending.removeAll { $0.change == change }
        flights.removeAll { $0.change == change }
      case 5:
        // A batch is sent when the one before has its answer.
        guard flights.isEmpty else { continue }
        let batch = pending.prefix(3)
        changes.beginSending(batch.map(\.change))
        flights = Array(batch)
        pending.removeFirst(batch.count)
      default:
        guard let flight = flights.popLast() else { continue }
        let isRetried = Bool.random(using: &generator)
        changes.endSending(flight.change, isRetried: isRetried)
        if isRetried, !pending.contains(where: { $0.change.target == flight.change.target }) {
          pending.append(flight)
          pending.sort { $0.number < $1.number }
        }
      }
      #expect(changes.pending == pending.map(\.change), "seed \(seed), step \(number)")
      #expect(changes.isEmpty == pending.isEmpty)
      let unsent =
        pending
        + flights.filter { flight in
          !pending.contains { $0.change.target == flight.change.target }
        }
      #expect(
        changes.unsent == unsent.sorted { $0.number < $1.number }.map(\.change),
        "seed \(seed), step \(number)")
    }
  }
}
