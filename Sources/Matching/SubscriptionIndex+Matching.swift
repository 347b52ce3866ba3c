import CloudKitModel

extension SubscriptionIndex {
  /// The subscriptions that fire on `change` and whose version is at most `version`, that is, which
  /// were saved before the change was committed; ordered by key.
  ///
  /// It fires what ``CloudKitModel/Subscription/matches(_:)`` says, and like it does not ask who may
  /// read the record.
  ///
  /// - Complexity: O(c + o + m log m) with c the entries evaluated (see ``SubscriptionIndex``), o the
  ///   owners of those that fire and m the matches
  public func matches(_ change: Change, savedBy version: Int64) -> [SubscriptionMatch] {
    var matches: [SubscriptionMatch] = []
    forEachCandidate(for: change) { slot in
      let entry = entries[slot]
      guard entry.kind.matches(change) else { return }
      for slot in entry.owners {
        let owner = owners[slot]
        guard owner.version <= version else { continue }
        matches.append(
          SubscriptionMatch(
            key: owner.key, subscription: owner.subscription, version: owner.version))
      }
    }
    matches.sort { $0.key < $1.key }
    return matches
  }

  private func forEachCandidate(for change: Change, _ body: (Int32) -> Void) {
    if let record = change.record {
      if change.event.queryOption != nil {
        recordTypes[record.recordType]?.forEachCandidate(for: record, body)
      }
      feeds[Feed(zoneID: change.zoneID, recordType: record.recordType)]?.forEach(body)
      feeds[Feed(zoneID: nil, recordType: record.recordType)]?.forEach(body)
    }
    feeds[Feed(zoneID: change.zoneID, recordType: nil)]?.forEach(body)
    feeds[Feed(zoneID: nil, recordType: nil)]?.forEach(body)
  }
}
