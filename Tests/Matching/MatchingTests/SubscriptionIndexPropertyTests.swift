import CloudKitModel
import Foundation
import PropertyTesting
import Testing

@testable import Matching

/// A case has some 200 operations.
struct SubscriptionIndexPropertyTests {
  @Test(
    "Whatever is inserted, replaced, removed and learnt, it finds what evaluating each one finds",
    arguments: Seeds.some(30))
  func agreesWithEvaluation(seed: Int) {
    let operations = operations(seed: seed)
    guard IndexOperation.failure(operations) != nil else { return }
    let small = IndexOperation.shrink(operations) { IndexOperation.failure($0) != nil }
    let lines = small.map { "  \($0)" }.joined(separator: "\n")
    Issue.record("seed \(seed), \(IndexOperation.failure(small) ?? ""):\n\(lines)")
  }

  private func operations(seed: Int) -> [IndexOperation] {
    var world = RandomWorld(seed: seed)
    var operations: [IndexOperation] = []
    var saved: [Subscription] = []
    for version in 1...150 as ClosedRange<Int64> {
      let key = SubscriptionKey(
        subscriber: world.generator.pick(world.subscribers),
        subscriptionID: world.generator.pick(world.subscriptionIDs))
      if world.generator.chance(1, in: 5) {
        operations.append(.remove(key))
      } else {
        let subscription = subscription(key.subscriptionID, like: saved, &world)
        saved.append(subscription)
        operations.append(.insert(key, subscription, version: version))
      }
      for _ in 0..<(world.generator.chance(1, in: 6) ? 10 : 0) {
        operations.append(.learn(world.change()))
      }
      let limit = world.generator.chance(1, in: 4) ? version / 2 : version
      operations.append(.match(world.change(), savedBy: limit))
      if world.generator.chance(1, in: 3) { operations.append(group(upTo: version, &world)) }
    }
    return operations
  }

  /// None, one or more than are matched side by side, of both record types and of zones, in any order.
  private func group(upTo version: Int64, _ world: inout RandomWorld) -> IndexOperation {
    let count = Int.random(in: 0...3 * MatchGroup.size, using: &world.generator)
    let changes = (0..<count).map { _ in
      let limit = world.generator.chance(1, in: 4) ? version / 2 : version
      return (change: world.change(), savedBy: limit)
    }
    let limit = world.generator.chance(1, in: 3) ? world.generator.pick([0, 1, 5, 20]) : .max
    return .matchGroup(changes, atMost: limit)
  }

  /// A new one, or now and then the content of another one with its filters in another order, so
  /// that owners share entries.
  private func subscription(
    _ id: String, like others: [Subscription], _ world: inout RandomWorld
  ) -> Subscription {
    guard !others.isEmpty, world.generator.chance(1, in: 3) else {
      return world.subscription(id: id)
    }
    var copy = world.generator.pick(others)
    copy.subscriptionID = id
    if case .query(var query, let zoneID, let options) = copy.kind {
      query.filters.shuffle(using: &world.generator)
      copy.kind = .query(query, zoneID: zoneID, options: options.symmetricDifference(.firesOnce))
    }
    return copy
  }

  @Test("The random cases do match: the comparison above is not between empty answers")
  func randomCasesMatch() {
    var matches = 0
    var filtered = 0
    for seed in 0..<40 {
      var world = RandomWorld(seed: seed)
      let subscriptions = (0..<40).map { world.subscription(id: "s\($0)") }
      for _ in 0..<20 {
        let change = world.change()
        for subscription in subscriptions where subscription.matches(change) {
          matches += 1
          if case .query(let query, _, _) = subscription.kind, query.filters.count > 1 {
            filtered += 1
          }
        }
      }
    }
    #expect(matches > 1_000)
    #expect(filtered > 100)
  }

  @Test("Random groups have matches of several changes, and often end before all were visited")
  func groupsAreCovered() {
    var (found, stopped, whole) = (0, 0, 0)
    for seed in 0..<20 {
      var index = SubscriptionIndex()
      var memory = MatchGroup()
      for operation in operations(seed: seed) {
        switch operation {
        case .insert(let key, let subscription, let version):
          index.insert(subscription, for: key, version: version)
        case .remove(let key):
          index.remove(key)
        case .matchGroup(let changes, let limit):
          var places: Set<Int> = []
          var costs = MatchingCosts()
          let end = index.forEachMatch(
            of: changes.map(\.change), in: changes.indices, savedBy: changes.map(\.savedBy),
            atMost: limit, charging: &costs, using: &memory
          ) { place, _ in places.insert(place) }
          found += places.count
          if end < changes.count { stopped += 1 } else { whole += 1 }
        case .learn, .match:
          continue
        }
      }
    }
    #expect(found > 1_000)
    #expect(stopped > 50 && whole > 100)
  }

  @Test("Every comparator is asked of values that it passes and of values that it does not")
  func comparatorsAreCovered() {
    var passed: [CloudKitModel.Comparator: Int] = [:]
    var failed: [CloudKitModel.Comparator: Int] = [:]
    for seed in 0..<150 {
      var world = RandomWorld(seed: seed)
      for _ in 0..<40 {
        let filter = world.filter()
        let changes = (0..<20).map { _ in world.change() }
        for record in changes.compactMap(\.record) where record.value(for: filter.key) != nil {
          if filter.matches(record) {
            passed[filter.comparator, default: 0] += 1
          } else {
            failed[filter.comparator, default: 0] += 1
          }
        }
      }
    }
    for comparator in CloudKitModel.Comparator.allCases {
      #expect(passed[comparator, default: 0] > 5, "\(comparator) passes nothing")
      #expect(failed[comparator, default: 0] > 5, "\(comparator) passes everything")
    }
  }

  @Test("A failing case is told with as few operations, filters and fields as still fail")
  func shrinking() {
    let operations = operations(seed: 1)
    // As if the index went wrong with every query that has a filter, when something is matched later.
    func fails(_ operations: [IndexOperation]) -> Bool {
      let insertion = operations.firstIndex {
        guard case .insert(_, let subscription, _) = $0,
          case .query(let query, _, _) = subscription.kind
        else { return false }
        return !query.filters.isEmpty
      }
      guard let insertion else { return false }
      return operations[insertion...].contains { if case .match = $0 { true } else { false } }
    }
    #expect(operations.count > 250 && fails(operations))
    let small = IndexOperation.shrink(operations, while: fails)
    #expect(small.count == 2 && fails(small))
    for case .insert(_, let subscription, _) in small {
      guard case .query(let query, _, _) = subscription.kind else { continue }
      #expect(query.filters.count == 1)
    }
    for case .match(let change, _) in small { #expect(change.record?.fields.isEmpty ?? true) }
  }
}
