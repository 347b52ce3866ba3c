/// A batch of keys that wait to be looked up in a ``PointTable`` together, at most 64.
///
/// Each step of a look-up reads memory at a random place of a large table. The batch does one step
/// for all keys before the next step, and prefetches the memory of the next step. The processor
/// loads this memory in parallel, while the rest of the record is examined.
///
/// 1. ``ask(_:_:_:)`` adds a key and prefetches its hash slot.
/// 2. ``locate(_:)`` reads the hash slots and prefetches the points.
/// 3. ``meet(_:_:)`` reads the points and adds those of the keys to the facts of the change.
struct PointQuestions: Sendable {
  /// The greatest number of keys in a batch.
  private static let capacity = 64

  private var keys: [PointKey] = []
  /// The numbers of the points that most likely have the keys. `place` is the index of the key in
  /// ``keys``.
  private var found: [(place: Int, number: UInt32)] = []
  private var count = 0

  /// Adds a key. A full batch is looked up first.
  ///
  /// - Precondition: The key contains all bytes of the value (``PointKey/isWhole``). The memory of
  ///   the bytes may be gone when the key is looked up.
  /// - Complexity: O(1), amortized.
  @inline(__always)
  mutating func ask(_ key: PointKey, _ table: PointTable, _ facts: inout RecordFacts) {
    if count == keys.count { makeRoom(key, table, &facts) }
    keys[count] = key
    table.prefetch(key)
    count += 1
  }

  /// Looks up all keys of the batch and empties it.
  ///
  /// - Complexity: O(*n*) on average, where *n* is the number of keys.
  mutating func answer(_ table: PointTable, _ facts: inout RecordFacts) {
    locate(table)
    meet(table, &facts)
  }

  /// Reads the hash slots of all keys and prefetches the points.
  mutating func locate(_ table: PointTable) {
    found.removeAll(keepingCapacity: true)
    for place in 0..<count {
      guard let number = table.likely(keys[place]) else { continue }
      table.points.prefetch(Int(number)..<Int(number) + 1)
      found.append((place, number))
    }
  }

  /// Reads the points, adds each point that has its key to the facts, and empties the batch.
  mutating func meet(_ table: PointTable, _ facts: inout RecordFacts) {
    for (place, number) in found {
      if table[number].mayBe(keys[place]) {
        facts.meet(number, table[number])
      } else if let number = table.find(keys[place]) {
        // The likely point has another key with the same half of the hash.
        facts.meet(number, table[number])
      }
    }
    count = 0
  }

  /// Allocates the batch at its first use. Later calls look up the keys of the full batch. `filler`
  /// fills the new elements.
  private mutating func makeRoom(
    _ filler: PointKey, _ table: PointTable, _ facts: inout RecordFacts
  ) {
    if keys.isEmpty {
      keys = [PointKey](repeating: filler, count: Self.capacity)
    } else {
      answer(table, &facts)
    }
  }
}
