import CloudKitModel

/// Matching of several changes side by side, so that the changes do not wait for memory one by one.
///
/// The technique is group prefetching (S. Chen et al., "Improving Hash Join Performance through
/// Prefetching", ICDE 2004).
extension SubscriptionIndex {
  /// Visits the slots of the subscriptions that fire on some changes. The changes are visited in
  /// their order. The subscriptions of one change are in no order.
  ///
  /// The result is the same as with ``forEachMatch(of:savedBy:using:_:)`` for each change. This
  /// method is faster, and its advantage grows with the number of subscriptions.
  ///
  /// - Parameters:
  ///   - places: The indices of the changes to match.
  ///   - versions: For each element of `changes`, the greatest version of a subscription that may
  ///     fire.
  ///   - limit: The number of visits after which no further change is matched. All subscriptions of
  ///     a matched change are visited, even beyond the limit.
  ///   - costs: Receives what the matching cost. Subscriptions of its excluded subscribers are not
  ///     visited.
  ///   - visit: Receives the index of a change and the slot of a subscription that fires on it.
  ///     ``matches(inSlots:)`` returns the subscription.
  /// - Returns: The index after the last matched change; the lower bound of `places` if `limit` is
  ///   0.
  /// - Complexity: the sum of the complexities for the single changes.
  @discardableResult
  public func forEachMatch(
    of changes: [Change], in places: Range<Int>, savedBy versions: [Int64],
    atMost limit: Int = .max, charging costs: inout MatchingCosts, using group: inout MatchGroup,
    _ visit: (Int, Int32) -> Void
  ) -> Int {
    var (first, visited) = (places.lowerBound, 0)
    while first < places.upperBound, visited < limit {
      let next = first..<min(places.upperBound, first + MatchGroup.size)
      first = changes[next].withUnsafeBufferPointer { changes in
        match(changes, &group.scratches, &costs)
        for place in changes.indices {
          let version = versions[next.lowerBound + place]
          func visitOwner(_ slot: Int32) {
            if costs.excludes(owners[slot]) { return }
            visited += 1
            visit(next.lowerBound + place, slot)
          }
          visitOwners(of: &group.scratches[place], savedBy: version, visitOwner)
          if !feedNumbers.isEmpty {
            changes.read(place) { visitFeeds(of: $0, savedBy: version, visitOwner) }
          }
          if visited >= limit { return next.lowerBound + place + 1 }
        }
        return next.upperBound
      }
    }
    return first
  }

  /// Finds the entries that fire on each change of a group, and their lists of owners. Both are
  /// stored in the change's scratch.
  private func match(
    _ changes: UnsafeBufferPointer<Change>, _ scratches: inout [MatchScratch],
    _ costs: inout MatchingCosts
  ) {
    for place in changes.indices { changes.read(place) { begin($0, &scratches[place]) } }
    let count = changes.count
    forEachType(count, &scratches) { $0.look(at: changes, in: $1, &$2) }
    forEachType(count, &scratches) { $0.locatePoints(in: $1, &$2) }
    forEachType(count, &scratches) { $0.meetPoints(in: $1, &$2) }
    forEachType(count, &scratches) { $0.considerEntries(in: $1, &$2) }
    forEachType(count, &scratches) {
      $0.runPrograms(changes, in: $1, &$2, &costs, owners, ownerRuns)
    }
    forEachType(count, &scratches) { $0.findOwners(in: $1, &$2, ownerRuns) }
  }

  /// Calls `step` for each run of adjacent changes that have the same record type. Changes on which
  /// no entry can fire are skipped.
  @inline(__always)
  private func forEachType(
    _ count: Int, _ scratches: inout [MatchScratch],
    _ step: (borrowing RecordTypeIndex, Range<Int>, inout [MatchScratch]) -> Void
  ) {
    var first = 0
    while first < count {
      let type = scratches[first].type
      var end = first + 1
      while end < count, scratches[end].type == type { end += 1 }
      if let type { types[Int(type)].read { step($0, first..<end, &scratches) } }
      first = end
    }
  }
}
