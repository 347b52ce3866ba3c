import CloudKitModel

extension SubscriptionIndex {
  /// The subscriptions that fire on `change` and whose version is at most `version`, that is, which
  /// were saved before the change was committed; ordered by key.
  ///
  /// It fires what ``CloudKitModel/Subscription/matches(_:)`` says, and like it does not ask who may
  /// read the record.
  public func matches(_ change: Change, savedBy version: Int64) -> [SubscriptionMatch] {
    var scratch = MatchScratch()
    return matches(change, savedBy: version, using: &scratch)
  }

  /// As ``matches(_:savedBy:)``, with memory that is used for one change after the other.
  public func matches(
    _ change: Change, savedBy version: Int64, using scratch: inout MatchScratch
  ) -> [SubscriptionMatch] {
    var matches: [SubscriptionMatch] = []
    forEachMatch(of: change, savedBy: version, using: &scratch) { matches.append(self[$0]) }
    matches.sort { $0.key < $1.key }
    return matches
  }

  /// Visits the slots of the subscriptions that fire, in no order.
  public func forEachMatch(
    of change: Change, savedBy version: Int64, using scratch: inout MatchScratch,
    _ visit: (Int32) -> Void
  ) {
    if let recordType = change.record?.recordType, let option = change.event.queryOption,
      let type = typeNumbers[recordType]
    {
      // A span, for an array's element would be copied first, with all that it refers to.
      types.span[type].match(change, event: UInt8(option.rawValue), &scratch)
      // First all that is to be read of the entries, then all of the owners: what one step reads does
      // not wait for what another does.
      for place in 0..<scratch.firedCount {
        scratch.fired[place] = UInt32(
          bitPattern: types[type].firstOwners[Int(scratch.fired[place])])
      }
      for place in 0..<scratch.firedCount {
        visitOwners(from: Int32(bitPattern: scratch.fired[place]), savedBy: version, visit)
      }
    }
    if feeds.isEmpty || change.zoneID.isDefaultZone { return }
    var visited: Set<Feed> = []
    for zoneID in [change.zoneID, nil] {
      for recordType in [change.record?.recordType, nil] {
        let feed = Feed(zoneID: zoneID, recordType: recordType)
        guard visited.insert(feed).inserted, let first = feeds[feed] else { continue }
        visitOwners(from: first, savedBy: version, visit)
      }
    }
  }

  private func visitOwners(from first: Int32, savedBy version: Int64, _ visit: (Int32) -> Void) {
    let areAllSaved = latestVersion <= version
    var slot = first
    while slot >= 0 {
      if areAllSaved || owners[slot].version <= version { visit(slot) }
      slot = links[Int(slot)].next
    }
  }
}
