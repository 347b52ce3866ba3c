import CloudKitModel
import Testing

@testable import Matching

@Suite("The index against plain evaluation")
struct SubscriptionIndexPropertyTests {
  private struct Saved {
    var subscription: Subscription
    var version: Int64
  }

  @Test(
    "Whatever is inserted, replaced and removed, it finds what evaluating each one finds",
    arguments: 0..<250)
  func agreesWithEvaluation(seed: Int) {
    var world = RandomWorld(seed: seed)
    var index = SubscriptionIndex()
    var model: [SubscriptionKey: Saved] = [:]
    var version: Int64 = 0
    var scratch = MatchScratch()

    for step in 0..<150 {
      version += 1
      let key = SubscriptionKey(
        subscriber: world.generator.pick(world.subscribers),
        subscriptionID: world.generator.pick(world.subscriptionIDs))
      if world.generator.chance(1, in: 5) {
        let wasThere = model.removeValue(forKey: key) != nil
        let removed = index.remove(key)
        #expect(removed == wasThere, "step \(step)")
      } else {
        let subscription = subscription(for: key, world: &world, model: model)
        index.insert(subscription, for: key, version: version)
        model[key] = Saved(subscription: subscription, version: version)
      }
      #expect(index.count == model.count, "step \(step)")

      let change = world.change()
      for _ in 0..<(world.generator.chance(1, in: 3) ? 20 : 0) {
        index.learn(from: world.change(), using: &scratch)
      }
      let bound = world.generator.chance(1, in: 4) ? version / 2 : version
      let found = index.matches(change, savedBy: bound)
      let wanted = model.filter {
        $0.value.version <= bound && $0.value.subscription.matches(change)
      }
      let foundKeys = found.map(\.key)
      guard foundKeys == wanted.keys.sorted() else {
        let odd = Set(foundKeys).symmetricDifference(wanted.keys).sorted().first
        Issue.record("step \(step): \(explain(odd, model, change, Set(foundKeys)))")
        return
      }
      for match in found {
        #expect(match.version == model[match.key]?.version)
        let saved = model[match.key]?.subscription
        #expect(saved.map { "\($0)" } == "\(match.subscription)", "step \(step)")
      }
      if step % 25 == 0 { #expect(index.checkInvariants() == [], "step \(step)") }
    }

    for key in model.keys { index.remove(key) }
    #expect(index.count == 0)
    #expect(index.typeNumbers.isEmpty && index.feedNumbers.isEmpty && index.entryCount == 0)
    #expect(index.checkInvariants() == [])
  }

  /// A new one, or now and then the content of another one with its filters in another order, so
  /// that owners share entries.
  private func subscription(
    for key: SubscriptionKey, world: inout RandomWorld, model: [SubscriptionKey: Saved]
  ) -> Subscription {
    guard world.generator.chance(1, in: 3), !model.isEmpty else {
      return world.subscription(id: key.subscriptionID)
    }
    var copy = model[world.generator.pick(model.keys.sorted())]!.subscription
    copy.subscriptionID = key.subscriptionID
    if case .query(var query, let zoneID, let options) = copy.kind {
      query.filters.shuffle(using: &world.generator)
      copy.kind = .query(query, zoneID: zoneID, options: options.symmetricDifference(.firesOnce))
    }
    return copy
  }

  /// The case with as few filters and fields as still go wrong.
  private func explain(
    _ key: SubscriptionKey?, _ model: [SubscriptionKey: Saved], _ change: Change,
    _ found: Set<SubscriptionKey>
  ) -> String {
    guard let key else { return "the keys are right, their order is not" }
    let side = found.contains(key) ? "found but does not match" : "matches but was not found"
    guard let saved = model[key] else { return "\(key) is found but was removed" }
    guard disagrees(saved.subscription, change) else {
      return "\(key) \(side), though not when alone:\n\(saved.subscription)\n\(change)"
    }
    var (subscription, change) = (saved.subscription, change)
    var shrinks = true
    while shrinks {
      let smaller = smallerCases(subscription, change).first { disagrees($0.0, $0.1) }
      shrinks = smaller != nil
      if let smaller { (subscription, change) = smaller }
    }
    return "\(key) \(side):\n\(subscription)\n\(change)"
  }

  private func disagrees(_ subscription: Subscription, _ change: Change) -> Bool {
    var index = SubscriptionIndex()
    index.insert(
      subscription, for: SubscriptionKey(subscriber: "_ann", subscriptionID: "alone"), version: 1)
    return index.matches(change, savedBy: 1).isEmpty == subscription.matches(change)
  }

  private func smallerCases(
    _ subscription: Subscription, _ change: Change
  ) -> [(Subscription, Change)] {
    var cases: [(Subscription, Change)] = []
    if case .query(let query, let zoneID, let options) = subscription.kind {
      for position in query.filters.indices {
        var smaller = query
        smaller.filters.remove(at: position)
        var copy = subscription
        copy.kind = .query(smaller, zoneID: zoneID, options: options)
        cases.append((copy, change))
      }
    }
    for name in change.record?.fields.keys.sorted() ?? [] {
      var copy = change
      copy.record?.fields[name] = nil
      cases.append((subscription, copy))
    }
    return cases
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
}
