import StoreModel

/// The databases and parts that this server dispatches, each with the time of its last work. It is
/// a value.
struct HeldLeases {
  /// The time of the last work of each lease.
  private var lastUses: [DatabasePart: ContinuousClock.Instant] = [:]

  /// The number of leases.
  var count: Int { lastUses.count }

  /// Records work, which also adds the lease.
  mutating func use(_ part: DatabasePart, at now: ContinuousClock.Instant) {
    lastUses[part] = now
  }

  /// Removes a lease.
  mutating func end(_ part: DatabasePart) {
    lastUses[part] = nil
  }

  /// Removes all leases, and returns their number.
  mutating func endAll() -> Int {
    defer { lastUses = [:] }
    return lastUses.count
  }

  /// The leases of parts of divided databases.
  var parts: [DatabasePart] { lastUses.keys.filter { !$0.isWhole } }

  /// Removes databases that were not used since `start`, at most `limit`, and returns them.
  ///
  /// A database in use counts as used now. Parts of divided databases stay, because it takes long
  /// to read a part's subscriptions again.
  mutating func removeUnused(
    since start: ContinuousClock.Instant, at now: ContinuousClock.Instant, limit: Int,
    isInUse: (DatabasePart) -> Bool
  ) -> [DatabaseID] {
    var unused: [DatabaseID] = []
    for (part, lastUse) in lastUses where lastUse < start && part.isWhole {
      if isInUse(part) {
        lastUses[part] = now
      } else if unused.count < limit {
        unused.append(part.database)
      }
    }
    for database in unused { lastUses[.whole(database)] = nil }
    return unused
  }
}
