import CloudKitModel

@testable import Matching

/// One thing that is done to an index, so that a case is a list of them.
enum IndexOperation: CustomStringConvertible {
  case insert(SubscriptionKey, Subscription, version: Int64)
  case remove(SubscriptionKey)
  case learn(Change)
  case match(Change, savedBy: Int64)
  /// Changes with the versions up to which subscriptions count, side by side.
  case matchGroup([(change: Change, savedBy: Int64)], atMost: Int)

  var description: String {
    switch self {
    case .insert(let key, let subscription, let version):
      "insert \(key), version \(version): \(subscription.kind)"
    case .remove(let key): "remove \(key)"
    case .learn(let change): "learn from \(Self.text(change))"
    case .match(let change, let version): "match \(Self.text(change)), saved by \(version)"
    case .matchGroup(let group, let limit):
      "match, until there are \(limit),"
        + group.map { "\n    \(Self.text($0.change)), saved by \($0.savedBy)" }.joined()
    }
  }

  private static func text(_ change: Change) -> String {
    "\(change.event) in \(change.zoneID): \(change.record.map { "\($0)" } ?? "no record")"
  }

  /// The same with a filter less, a field or a change.
  var smaller: [IndexOperation] {
    switch self {
    case .insert(let key, let subscription, let version):
      guard case .query(let query, let zoneID, let options) = subscription.kind else { return [] }
      return query.filters.indices.map { position in
        var (copy, smaller) = (subscription, query)
        smaller.filters.remove(at: position)
        copy.kind = .query(smaller, zoneID: zoneID, options: options)
        return .insert(key, copy, version: version)
      }
    case .match(let change, let version):
      return (change.record?.fields.keys ?? []).map { name in
        var copy = change
        copy.record?.fields[name] = nil
        return .match(copy, savedBy: version)
      }
    case .matchGroup(let group, let limit):
      return group.indices.map { position in
        var fewer = group
        fewer.remove(at: position)
        return .matchGroup(fewer, atMost: limit)
      }
    case .remove, .learn:
      return []
    }
  }

  /// Makes a failing list small: fewer operations first, then smaller ones.
  static func shrink(
    _ operations: [IndexOperation], while fails: ([IndexOperation]) -> Bool
  ) -> [IndexOperation] {
    var operations = operations
    var length = operations.count / 2
    while length > 0 {
      var start = 0
      while start < operations.count {
        var fewer = operations
        fewer.removeSubrange(start..<min(operations.count, start + length))
        if fails(fewer) { operations = fewer } else { start += length }
      }
      length /= 2
    }
    var position = 0
    while position < operations.count {
      let smaller = operations[position].smaller.lazy.map { one in
        var copy = operations
        copy[position] = one
        return copy
      }.first { fails($0) }
      if let smaller { operations = smaller } else { position += 1 }
    }
    return operations
  }
}

extension IndexOperation {
  /// Carries out the operations on an index and on plain evaluation. Returns their first
  /// difference; `nil` if both agree.
  static func failure(_ operations: [IndexOperation]) -> String? {
    var index = SubscriptionIndex()
    var (scratch, group) = (MatchScratch(), MatchGroup())
    var model: [SubscriptionKey: (subscription: Subscription, version: Int64)] = [:]
    for (step, operation) in operations.enumerated() {
      switch operation {
      case .insert(let key, let subscription, let version):
        index.insert(subscription, for: key, version: version)
        model[key] = (subscription, version)
      case .remove(let key):
        let wasThere = model.removeValue(forKey: key) != nil
        if index.remove(key) != wasThere { return "step \(step): \(key) was there: \(wasThere)" }
      case .learn(let change):
        index.learn(from: change, using: &scratch)
      case .match(let change, let version):
        let found = index.matches(change, savedBy: version, using: &scratch)
        let wanted = model.filter {
          $0.value.version <= version && $0.value.subscription.matches(change)
        }
        if let difference = difference(found, wanted) { return "step \(step): \(difference)" }
      case .matchGroup(let changes, let limit):
        if let difference = difference(index, changes, atMost: limit, &group, &scratch) {
          return "step \(step): \(difference)"
        }
      }
      if index.count != model.count { return "step \(step): \(index.count) for \(model.count)" }
      if step % 40 == 0, let broken = index.checkInvariants().first {
        return "step \(step): \(broken)"
      }
    }
    for key in model.keys { index.remove(key) }
    let isEmpty =
      index.count == 0 && index.entryCount == 0 && index.typeNumbers.isEmpty
      && index.feedNumbers.isEmpty && index.contents.count == 0
    return isEmpty ? index.checkInvariants().first : "what was removed is not all gone"
  }

  /// Where what is found side by side differs from what is found for one change after the other.
  private static func difference(
    _ index: SubscriptionIndex, _ changes: [(change: Change, savedBy: Int64)], atMost limit: Int,
    _ group: inout MatchGroup, _ scratch: inout MatchScratch
  ) -> String? {
    var found: [[Int32]] = []
    var number = 0
    var costs = MatchingCosts()
    let end = index.forEachMatch(
      of: changes.map(\.change), in: changes.indices, savedBy: changes.map(\.savedBy),
      atMost: limit, charging: &costs, using: &group
    ) { place, slot in
      while found.count <= place { found.append([]) }
      found[place].append(slot)
      number += 1
    }
    if end < changes.count, number < limit { return "change \(end) was not matched" }
    if found.count > end { return "change \(end) was matched though it was not to be" }
    for place in 0..<end {
      let before = found[..<min(place, found.count)].reduce(0) { $0 + $1.count }
      if before >= limit { return "change \(place) was matched though \(before) are enough" }
      var wanted: [Int32] = []
      index.forEachMatch(
        of: changes[place].change, savedBy: changes[place].savedBy, using: &scratch
      ) { wanted.append($0) }
      let slots = place < found.count ? found[place] : []
      if slots.sorted() != wanted.sorted() {
        return "change \(place) of \(changes.count) finds \(slots), alone \(wanted)"
      }
    }
    return differenceWithoutSome(index, changes, found, end, &group)
  }

  /// Where what is found without some of the subscribers differs from the rest of what was found.
  ///
  /// - Parameters:
  ///   - found: the slots that were found for each change with all subscribers.
  ///   - end: the number of changes that were matched.
  private static func differenceWithoutSome(
    _ index: SubscriptionIndex, _ changes: [(change: Change, savedBy: Int64)], _ found: [[Int32]],
    _ end: Int, _ group: inout MatchGroup
  ) -> String? {
    func number(_ slot: Int32) -> UInt32 {
      index.number(ofSubscriber: index.key(inSlot: slot).subscriber) ?? .max
    }
    let excluded = Set(found.joined().filter { $0 % 3 == 0 }.map(number))
    for set in [excluded, []] {
      var costs = MatchingCosts(excluding: SubscriberSet(set), bySubscriber: true)
      var rest = [[Int32]](repeating: [], count: changes.count)
      index.forEachMatch(
        of: changes.map(\.change), in: 0..<end, savedBy: changes.map(\.savedBy),
        charging: &costs, using: &group
      ) { rest[$0].append($1) }
      for place in 0..<end {
        let all = place < found.count ? found[place] : []
        if rest[place].sorted() != all.filter({ !set.contains(number($0)) }).sorted() {
          return "change \(place) finds \(rest[place]) of \(all) without \(set)"
        }
      }
      if costs.bySubscriber.values.reduce(0, +) != costs.total {
        return "the costs of subscribers \(costs.bySubscriber) are not \(costs.total) together"
      }
      if !set.isDisjoint(with: costs.bySubscriber.keys) { return "an excluded one is charged" }
    }
    return nil
  }

  private static func difference(
    _ found: [SubscriptionMatch],
    _ wanted: [SubscriptionKey: (subscription: Subscription, version: Int64)]
  ) -> String? {
    let keys = found.map(\.key)
    let missing = Set(wanted.keys).subtracting(keys).sorted()
    if let key = missing.first { return "\(key) matches but was not found" }
    if let key = keys.first(where: { wanted[$0] == nil }) { return "\(key) does not match" }
    if keys != wanted.keys.sorted() { return "the order or number of \(keys) is wrong" }
    for match in found {
      guard let saved = wanted[match.key] else { continue }
      // Then as text, for a NaN is not equal to itself.
      let isSame =
        match.subscription == saved.subscription
        || "\(match.subscription)" == "\(saved.subscription)"
      if match.version != saved.version || !isSame {
        return "\(match.key) came back as \(match.subscription)"
      }
    }
    return nil
  }
}
