import Storage

/// The databases whose changes this server dispatches, as a value, with when there was last something
/// to do.
struct HeldLeases {
  private var lastUses: [DatabaseID: ContinuousClock.Instant] = [:]

  var count: Int { lastUses.count }

  mutating func use(_ database: DatabaseID, at now: ContinuousClock.Instant) {
    lastUses[database] = now
  }

  mutating func end(_ database: DatabaseID) {
    lastUses[database] = nil
  }

  /// Answers how many there were.
  mutating func endAll() -> Int {
    defer { lastUses = [:] }
    return lastUses.count
  }

  /// Takes out those that were not used since then, `limit` of them at most; those in use are used now.
  mutating func removeUnused(
    since start: ContinuousClock.Instant, at now: ContinuousClock.Instant, limit: Int,
    isInUse: (DatabaseID) -> Bool
  ) -> [DatabaseID] {
    var unused: [DatabaseID] = []
    for (database, lastUse) in lastUses where lastUse < start {
      if isInUse(database) {
        lastUses[database] = now
      } else if unused.count < limit {
        unused.append(database)
      }
    }
    for database in unused { lastUses[database] = nil }
    return unused
  }
}
