/// Counts by key, such as by the host of a client. A key without a count occupies no memory.
struct Amounts<Key: Hashable & Sendable>: Sendable {
  private var counts: [Key: Int] = [:]
  var keyCount: Int { counts.count }

  subscript(key: Key) -> Int { counts[key, default: 0] }

  mutating func add(_ change: Int, to key: Key) {
    let count = self[key] + change
    counts[key] = count == 0 ? nil : count
  }
}
