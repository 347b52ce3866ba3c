import StoreModel

/// The leases of this server: the databases, and parts of divided databases, that it dispatches.
/// Each lease has the time of its last work. `HeldLeases` is a value.
struct HeldLeases {
  private var lastUses: [DatabasePart: ContinuousClock.Instant] = [:]

  var count: Int { lastUses.count }

  /// Sets the time of the last work of a lease, and adds the lease if it is missing.
  mutating func use(_ part: DatabasePart, at now: ContinuousClock.Instant) {
    lastUses[part] = now
  }

  mutating func end(_ part: DatabasePart) {
    lastUses[part] = nil
  }

  mutating func endAll() -> Int {
    defer { lastUses = [:] }
    return lastUses.count
  }

  /// The leases of parts of divided databases.
  var parts: [DatabasePart] { lastUses.keys.filter { !$0.isWhole } }

  /// Removes the leases of databases without work since `start`, and returns the databases. There
  /// are at most `limit`.
  ///
  /// If `isInUse` returns true for one of these databases, the call sets its last work to `now`,
  /// and keeps the lease. Leases of parts of divided databases stay too, because it takes long to
  /// read a part's subscriptions again.
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
