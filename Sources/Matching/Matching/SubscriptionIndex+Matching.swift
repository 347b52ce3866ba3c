import CloudKitModel

extension SubscriptionIndex {
  /// Returns the subscriptions that fire on a change, in the order of their keys.
  ///
  /// A subscription fires if `Subscription.matches(_:)` accepts the change. The index does not
  /// check which users may read the record. The caller must do so.
  ///
  /// - Parameter version: The version of the change. Only subscriptions with at most this version
  ///   fire: they were saved before the change was committed.
  /// - Complexity: that of ``forEachMatch(of:savedBy:using:_:)``, and O(*n* log *n*) for *n*
  ///   matches.
  public func matches(_ change: Change, savedBy version: Int64) -> [SubscriptionMatch] {
    var scratch = MatchScratch()
    return matches(change, savedBy: version, using: &scratch)
  }

  /// Returns the subscriptions that fire on a change, as ``matches(_:savedBy:)`` does, with working
  /// memory that the caller reuses.
  public func matches(
    _ change: Change, savedBy version: Int64, using scratch: inout MatchScratch
  ) -> [SubscriptionMatch] {
    var slots: [Int32] = []
    forEachMatch(of: change, savedBy: version, using: &scratch) { slots.append($0) }
    sort(&slots)
    return matches(inSlots: slots)
  }

  /// Visits the slots of the subscriptions that fire on a change, in no order.
  ///
  /// A slot is valid until the index changes; ``matches(inSlots:)`` returns its subscription.
  ///
  /// - Parameter version: The greatest version of a subscription that may fire.
  /// - Complexity: O(*n* + *m* + *k*) on average. *n* is the number of facts of the record that are
  ///   looked up. *m* is the number of entries that are checked. *k* is the number of owners of the
  ///   entries and feeds that match.
  public func forEachMatch(
    of change: Change, savedBy version: Int64, using scratch: inout MatchScratch,
    _ visit: (Int32) -> Void
  ) {
    begin(change, &scratch)
    if let type = scratch.type {
      types[Int(type)].read { $0.match(change, event: scratch.event, &scratch, owners, ownerRuns) }
    }
    visitOwners(of: &scratch, savedBy: version, visit)
    if !feedNumbers.isEmpty { visitFeeds(of: change, savedBy: version, visit) }
  }

  /// Prepares the working memory for a change: stores the event, and the record type whose entries
  /// may fire, if any.
  ///
  /// The method is not inlined. If it were, the compiler would copy the change.
  @inline(never)
  func begin(_ change: borrowing Change, _ scratch: inout MatchScratch) {
    var type: Int32?
    let option = change.event.queryOption
    if option != nil, let name = change.record?.recordType { type = typeNumbers[name] }
    scratch.begin(type: type, event: UInt8(option?.rawValue ?? 0))
  }

  /// Visits the owners of the entries in ``MatchScratch/owners``, if their version is at most
  /// `version`.
  @inline(__always)
  func visitOwners(
    of scratch: inout MatchScratch, savedBy version: Int64, _ visit: (Int32) -> Void
  ) {
    for place in 0..<scratch.firedCount {
      visitOwners(scratch.owners[place], savedBy: version, visit)
    }
  }

  /// Visits the zone and database subscriptions that fire on a change. None of these fires on a
  /// change in the default zone.
  ///
  /// - Complexity: O(*n*) on average, where *n* is the number of owners of the feeds that match.
  func visitFeeds(
    of change: borrowing Change, savedBy version: Int64, _ visit: (Int32) -> Void
  ) {
    if change.zoneID.isDefaultZone { return }
    var visited: Set<Feed> = []
    for zoneID in [change.zoneID, nil] {
      for recordType in [change.record?.recordType, nil] {
        let feed = Feed(zoneID: zoneID, recordType: recordType)
        guard visited.insert(feed).inserted, let number = feedNumbers[feed] else { continue }
        visitOwners(feedOwners[Int(number)], savedBy: version, visit)
      }
    }
  }

  /// Visits those owners in a list whose version is at most `version`.
  @inline(__always)
  private func visitOwners(
    _ list: OwnerList, savedBy version: Int64, _ visit: (Int32) -> Void
  ) {
    let areAllSaved = latestVersion <= version
    func visitOwner(_ slot: Int32) {
      if areAllSaved || owners[slot].version <= version { visit(slot) }
    }
    visitOwner(list.first)
    if list.second < 0 { return }
    visitOwner(list.second)
    for place in list.rest { visitOwner(ownerRuns.elements[place]) }
  }
}
