/// Counts by key, such as by the host of a client. A key without a count occupies no memory.
struct Amounts<Key: Hashable & Sendable>: Sendable {
  private var counts: [Key: Int] = [:]

  /// The number of keys with a count.
  var keyCount: Int { counts.count }

  /// The count of a key; 0 for an unknown key.
  subscript(key: Key) -> Int { counts[key, default: 0] }

  /// Adds `change` to the count of a key.
  mutating func add(_ change: Int, to key: Key) {
    let count = self[key] + change
    counts[key] = count == 0 ? nil : count
  }
}
