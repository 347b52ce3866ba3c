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
    var slots: [Int32] = []
    forEachMatch(of: change, savedBy: version, using: &scratch) { slots.append($0) }
    sort(&slots)
    return matches(inSlots: slots)
  }

  /// Visits the slots of the subscriptions that fire, in no order.
  public func forEachMatch(
    of change: Change, savedBy version: Int64, using scratch: inout MatchScratch,
    _ visit: (Int32) -> Void
  ) {
    if let recordType = change.record?.recordType, let option = change.event.queryOption,
      let type = typeNumbers[recordType]
    {
      types[Int(type)].read { $0.match(change, event: UInt8(option.rawValue), &scratch) }
      for place in 0..<scratch.firedCount {
        visitOwners(scratch.owners[place], savedBy: version, visit)
      }
    }
    if feedNumbers.isEmpty || change.zoneID.isDefaultZone { return }
    var visited: Set<Feed> = []
    for zoneID in [change.zoneID, nil] {
      for recordType in [change.record?.recordType, nil] {
        let feed = Feed(zoneID: zoneID, recordType: recordType)
        guard visited.insert(feed).inserted, let number = feedNumbers[feed] else { continue }
        visitOwners(feedOwners[Int(number)], savedBy: version, visit)
      }
    }
  }

  private func visitOwners(
    _ list: OwnerList, savedBy version: Int64, _ visit: (Int32) -> Void
  ) {
    let areAllSaved = latestVersion <= version
    if areAllSaved || owners[list.first].version <= version { visit(list.first) }
    if list.second < 0 { return }
    if areAllSaved || owners[list.second].version <= version { visit(list.second) }
    for place in list.rest {
      let slot = ownerRuns.elements[place]
      if areAllSaved || owners[slot].version <= version { visit(slot) }
    }
  }
}
