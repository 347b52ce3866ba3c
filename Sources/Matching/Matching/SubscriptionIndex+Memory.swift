/// Giving back memory of what is gone.
extension SubscriptionIndex {
  /// About how much memory the index takes, in bytes, whether what it has of it is used or not.
  ///
  /// - Complexity: O(record types)
  public var bytes: Int {
    let ownerBytes = owners.bytes + ownerRuns.bytes
    let feedBytes = feeds.bytes + feedOwners.bytes
    return types.reduce(ownerBytes + contents.bytes + feedBytes) { $0 + $1.read { $0.bytes } }
  }

  /// Moves what is left together where most is gone: tables that grew for many keep their size
  /// otherwise.
  ///
  /// - Parameter type: That of the subscription that was removed last.
  /// - Complexity: O(1), amortized. When more than half are gone the rest is gone through once.
  mutating func giveBackMemory(of type: Int32?) {
    if ownerRuns.isWorthMoving { moveOwnerRuns() }
    if contents.isWorthRenumbering(owners: owners.count) {
      let (contents, infos) = contents.renumber()
      owners.renumber(contents: contents, infos: infos)
    }
    guard let type else {
      renumberFeeds()
      return
    }
    types[Int(type)].value.renumberTerms()
    if let entries = types[Int(type)].value.renumberEntries(mentions: contents.count) {
      contents.renumberEntries(of: type, entries)
    }
  }

  private mutating func renumberFeeds() {
    guard
      Renumbering.isWorthIt(free: feeds.freeCount, used: feeds.count, mentions: contents.count)
    else { return }
    feedOwners = feeds.indices.map { feedOwners[Int($0)] }
    let renumbering = feeds.renumber()
    for feed in feedNumbers.keys {
      feedNumbers[feed] = feedNumbers[feed].map { Int32(renumbering[UInt32($0)]) }
    }
    contents.renumberEntries(of: nil, renumbering)
  }

  private mutating func moveOwnerRuns() {
    var moved = ownerRuns.emptied()
    for type in types.indices {
      for entry in types[type].value.owners.indices {
        types[type].value.owners[entry].move(from: ownerRuns, to: &moved)
      }
    }
    for feed in feedOwners.indices { feedOwners[feed].move(from: ownerRuns, to: &moved) }
    ownerRuns = moved
  }
}
