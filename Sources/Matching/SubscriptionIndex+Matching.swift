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
    begin(change, &scratch)
    if let type = scratch.type {
      types[Int(type)].read { $0.match(change, event: scratch.event, &scratch) }
    }
    visitOwners(change, savedBy: version, &scratch, visit)
  }

  /// Notes which entries may fire on the change: those of its record's type, if it is one of a record.
  func begin(_ change: borrowing Change, _ scratch: inout MatchScratch) {
    let option = change.event.queryOption
    let type = option == nil ? nil : change.record.flatMap { typeNumbers[$0.recordType] }
    scratch.begin(type: type, event: UInt8(option?.rawValue ?? 0))
  }

  /// Visits the owners of the entries that fire, and those of what watches the zone or the database.
  func visitOwners(
    _ change: borrowing Change, savedBy version: Int64, _ scratch: inout MatchScratch,
    _ visit: (Int32) -> Void
  ) {
    for place in 0..<scratch.firedCount {
      visitOwners(scratch.owners[place], savedBy: version, visit)
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
