/// Keys that wait to be looked up together, a fixed number at most.
///
/// What each step reads lies anywhere in a large table, and is read for all keys before the first is
/// gone on with: they wait for the memory together and not one after the other.
struct PointQuestions: Sendable {
  private static let capacity = 64

  private var keys: [PointKey] = []
  private var firsts: [UInt64] = []
  /// Points that may be those of some of the keys, with where these are.
  private var found: [(place: Int, number: UInt32)] = []
  private var points: [PointTable.Point] = []
  private var count = 0

  /// Adds a key that holds its bytes, and looks all up when there are many.
  @inline(__always)
  mutating func ask(_ key: PointKey, _ table: PointTable, _ facts: inout RecordFacts) {
    if count == keys.count { makeRoom(key, table, &facts) }
    keys[count] = key
    count += 1
  }

  /// Looks up what was asked.
  mutating func answer(_ table: PointTable, _ facts: inout RecordFacts) {
    for place in 0..<count { firsts[place] = table.first(for: keys[place]) }
    found.removeAll(keepingCapacity: true)
    for place in 0..<count {
      guard let number = table.likely(keys[place], first: firsts[place]) else { continue }
      found.append((place, number))
    }
    points.removeAll(keepingCapacity: true)
    for (_, number) in found { points.append(table[number]) }
    for (index, (place, number)) in found.enumerated() {
      if points[index].mayBe(keys[place]) {
        facts.meet(number, points[index])
      } else if let number = table.find(keys[place], first: firsts[place]) {
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
      firsts = [UInt64](repeating: 0, count: Self.capacity)
    } else {
      answer(table, &facts)
    }
  }
}
