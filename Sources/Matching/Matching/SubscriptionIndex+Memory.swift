/// The release of memory after removals.
extension SubscriptionIndex {
  /// The approximate size of the index in bytes, whether the memory is used or not.
  ///
  /// - Complexity: O(*n*), where *n* is the number of record types and their ordered paths
  ///   (``OrderedPath``).
  public var bytes: Int {
    let ownerBytes = owners.bytes + ownerRuns.bytes
    let feedBytes = feeds.bytes + feedOwners.bytes
    return types.reduce(ownerBytes + contents.bytes + feedBytes) { $0 + $1.read { $0.bytes } }
  }

  /// Compacts each table that is mostly unused. Without this call, a table would keep its greatest
  /// size.
  ///
  /// - Parameter type: The number of the record type of the last removed subscription; `nil` for a
  ///   zone or database subscription.
  /// - Complexity: O(1), amortized. A call that compacts takes O(*n*), where *n* is the size of the
  ///   index. That happens after more than half of the elements of a table are gone.
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

  /// Numbers the feeds anew if enough numbers are free; see
  /// ``Renumbering/isWorthIt(free:used:mentions:)``.
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
