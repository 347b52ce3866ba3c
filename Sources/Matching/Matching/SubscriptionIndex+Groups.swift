import CloudKitModel

/// Matching several changes side by side, so that none waits for memory (S. Chen et al., "Improving Hash
/// Join Performance through Prefetching", ICDE 2004, who call it group prefetching).
extension SubscriptionIndex {
  /// Visits for each of some changes, in their order, the slots of the subscriptions that fire, in no
  /// order.
  ///
  /// It visits what ``forEachMatch(of:savedBy:using:_:)`` does for one after the other. Who has several
  /// changes has the matches sooner so, the more subscriptions there are.
  ///
  /// - Parameters:
  ///   - changes: any number of them.
  ///   - places: those of the changes that are matched.
  ///   - versions: for each change, the version up to which subscriptions were saved before it.
  ///   - limit: when so many subscriptions were visited, those of further changes are not.
  ///   - visit: takes the place of a change and a slot.
  /// - Returns: the place behind the last change whose subscriptions were visited.
  @discardableResult
  public func forEachMatch(
    of changes: [Change], in places: Range<Int>, savedBy versions: [Int64],
    atMost limit: Int = .max, using group: inout MatchGroup, _ visit: (Int, Int32) -> Void
  ) -> Int {
    var (first, visited) = (places.lowerBound, 0)
    while first < places.upperBound, visited < limit {
      let next = first..<min(places.upperBound, first + MatchGroup.size)
      first = changes[next].withUnsafeBufferPointer { changes in
        match(changes, &group.scratches)
        for place in changes.indices {
          let version = versions[next.lowerBound + place]
          visited += visitOwners(of: &group.scratches[place], savedBy: version) {
            visit(next.lowerBound + place, $0)
          }
          if !feedNumbers.isEmpty {
            visited += changes.read(place) { change in
              visitFeeds(of: change, savedBy: version) { visit(next.lowerBound + place, $0) }
            }
          }
          if visited >= limit { return next.lowerBound + place + 1 }
        }
        return next.upperBound
      }
    }
    return first
  }

  /// Puts the entries that fire on some changes and the lists of their owners into the scratches.
  private func match(
    _ changes: UnsafeBufferPointer<Change>, _ scratches: inout [MatchScratch]
  ) {
    for place in changes.indices { changes.read(place) { begin($0, &scratches[place]) } }
    let count = changes.count
    forEachType(count, &scratches) { $0.look(at: changes, in: $1, &$2) }
    forEachType(count, &scratches) { $0.locatePoints(in: $1, &$2) }
    forEachType(count, &scratches) { $0.meetPoints(in: $1, &$2) }
    forEachType(count, &scratches) { $0.considerEntries(changes, in: $1, &$2) }
    forEachType(count, &scratches) { $0.findOwners(in: $1, &$2, ownerRuns) }
  }

  /// Does a step for the changes of the same record type that come behind each other, and for the next.
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
