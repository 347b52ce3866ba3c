import StoreModel

/// The databases and parts that this server dispatches, each with the time of its last work. A
/// value.
struct HeldLeases {
  private var lastUses: [DatabasePart: ContinuousClock.Instant] = [:]

  var count: Int { lastUses.count }

  mutating func use(_ part: DatabasePart, at now: ContinuousClock.Instant) {
    lastUses[part] = now
  }

  mutating func end(_ part: DatabasePart) {
    lastUses[part] = nil
  }

  /// Ends all leases, and returns their number.
  mutating func endAll() -> Int {
    defer { lastUses = [:] }
    return lastUses.count
  }

  /// The parts of databases that are divided.
  var parts: [DatabasePart] { lastUses.keys.filter { !$0.isWhole } }

  /// Removes at most `limit` databases that were not used since `since`; those in use count as used
  /// now. Parts stay, because reading a part's subscriptions again takes long.
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
