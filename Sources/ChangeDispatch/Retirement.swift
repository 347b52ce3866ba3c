import Storage

/// Changes that fired nothing and wait to leave the outbox, by database.
struct Retirement {
  let limit: Int
  private var waiting: [DatabaseID: [MatchedChange]] = [:]
  private var count = 0

  init(limit: Int) {
    self.limit = limit
  }

  var isEmpty: Bool { count == 0 }
  var isFull: Bool { count >= limit }

  mutating func add(_ changes: [MatchedChange], to database: DatabaseID) {
    guard !changes.isEmpty else { return }
    waiting[database, default: []] += changes
    count += changes.count
  }

  mutating func take(of database: DatabaseID) -> [MatchedChange] {
    let changes = waiting.removeValue(forKey: database) ?? []
    count -= changes.count
    return changes
  }

  mutating func takeAll() -> [[MatchedChange]] {
    defer { removeAll() }
    return Array(waiting.values)
  }

  mutating func removeAll() {
    waiting.removeAll()
    count = 0
  }
}
