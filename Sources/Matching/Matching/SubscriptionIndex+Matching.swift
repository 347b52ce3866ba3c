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
    visitOwners(of: &scratch, savedBy: version, visit)
    if !feedNumbers.isEmpty { visitFeeds(of: change, savedBy: version, visit) }
  }

  /// Notes which entries may fire on the change: those of its record's type, if it is one of a record.
  ///
  /// It is a call of its own because the compiler would copy the change where it is put into another.
  @inline(never)
  func begin(_ change: borrowing Change, _ scratch: inout MatchScratch) {
    var type: Int32?
    let option = change.event.queryOption
    if option != nil, let name = change.record?.recordType { type = typeNumbers[name] }
    scratch.begin(type: type, event: UInt8(option?.rawValue ?? 0))
  }

  /// Visits the owners of the entries that fire.
  ///
  /// - Returns: how many there are.
  @discardableResult @inline(__always)
  func visitOwners(
    of scratch: inout MatchScratch, savedBy version: Int64, _ visit: (Int32) -> Void
  ) -> Int {
    var count = 0
    for place in 0..<scratch.firedCount {
      count += visitOwners(scratch.owners[place], savedBy: version, visit)
    }
    return count
  }

  /// Visits the owners of what watches the change's zone or the database.
  ///
  /// - Returns: how many there are.
  @discardableResult
  func visitFeeds(
    of change: borrowing Change, savedBy version: Int64, _ visit: (Int32) -> Void
  ) -> Int {
    if change.zoneID.isDefaultZone { return 0 }
    var count = 0
    var visited: Set<Feed> = []
    for zoneID in [change.zoneID, nil] {
      for recordType in [change.record?.recordType, nil] {
        let feed = Feed(zoneID: zoneID, recordType: recordType)
        guard visited.insert(feed).inserted, let number = feedNumbers[feed] else { continue }
        count += visitOwners(feedOwners[Int(number)], savedBy: version, visit)
      }
    }
    return count
  }

  @inline(__always)
  private func visitOwners(
    _ list: OwnerList, savedBy version: Int64, _ visit: (Int32) -> Void
  ) -> Int {
    let areAllSaved = latestVersion <= version
    var count = 0
    func visitOwner(_ slot: Int32) {
      guard areAllSaved || owners[slot].version <= version else { return }
      visit(slot)
      count += 1
    }
    visitOwner(list.first)
    if list.second < 0 { return count }
    visitOwner(list.second)
    for place in list.rest { visitOwner(ownerRuns.elements[place]) }
    return count
  }
}
