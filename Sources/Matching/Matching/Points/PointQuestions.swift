/// Keys that wait to be looked up together, a fixed number at most.
///
/// What each step reads lies anywhere in a large table. It is brought near for all keys before the first
/// is gone on with, so that they wait for the memory together and not one after the other, and not at
/// all while the rest of the record is looked at.
struct PointQuestions: Sendable {
  private static let capacity = 64

  private var keys: [PointKey] = []
  /// Points that most likely are those of some of the keys, with where these are.
  private var found: [(place: Int, number: UInt32)] = []
  private var count = 0

  /// Adds a key that holds its bytes, and looks all up when there are many.
  @inline(__always)
  mutating func ask(_ key: PointKey, _ table: PointTable, _ facts: inout RecordFacts) {
    if count == keys.count { makeRoom(key, table, &facts) }
    keys[count] = key
    table.prefetch(key)
    count += 1
  }

  /// Looks up what was asked: first the numbers of the points, then the points.
  mutating func answer(_ table: PointTable, _ facts: inout RecordFacts) {
    locate(table)
    meet(table, &facts)
  }

  /// Reads the numbers of the points and asks for the points.
  mutating func locate(_ table: PointTable) {
    found.removeAll(keepingCapacity: true)
    for place in 0..<count {
      guard let number = table.likely(keys[place]) else { continue }
      table.points.prefetch(Int(number)..<Int(number) + 1)
      found.append((place, number))
    }
  }

  /// Reads the points that were located.
  mutating func meet(_ table: PointTable, _ facts: inout RecordFacts) {
    for (place, number) in found {
      if table[number].mayBe(keys[place]) {
        facts.meet(number, table[number])
      } else if let number = table.find(keys[place]) {
        // Another point has the same half of the hash.
        facts.meet(number, table[number])
      }
    }
    count = 0
  }

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
