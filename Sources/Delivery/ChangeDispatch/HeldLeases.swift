import StoreModel

/// The databases, and parts of some, whose changes this server dispatches, as a value, with when there was
/// last something to do.
struct HeldLeases {
  private var lastUses: [DatabasePart: ContinuousClock.Instant] = [:]

  var count: Int { lastUses.count }

  mutating func use(_ part: DatabasePart, at now: ContinuousClock.Instant) {
    lastUses[part] = now
  }

  mutating func end(_ part: DatabasePart) {
    lastUses[part] = nil
  }

  /// Answers how many there were.
  mutating func endAll() -> Int {
    defer { lastUses = [:] }
    return lastUses.count
  }

  /// The parts of databases that are divided.
  var parts: [DatabasePart] { lastUses.keys.filter { !$0.isWhole } }

  /// Takes out the databases that were not used since then, `limit` of them at most; those in use are used
  /// now. Parts stay: to read the subscriptions of one anew takes long.
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
