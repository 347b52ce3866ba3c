/// A hash set of the points of one change, by their numbers in the ``PointTable``.
///
/// A change has few points, so the set stays in the processor's cache, even if the numbers are
/// large. A *round* is the time between two calls of ``removeAll()``. ``removeAll()`` writes
/// nothing to the slots: a slot of an earlier round counts as empty.
struct PointSet: Sendable {
  /// The slots, a power of two of them, at first 256 (2 KiB).
  ///
  /// The upper half of a slot is the round in which the slot was filled, the lower half the number.
  /// A slot of another round counts as empty.
  private var slots = [UInt64](repeating: 0, count: 256)
  private var round: UInt64 = 1
  private var count = 0

  /// Empties the set.
  ///
  /// - Complexity: O(1). After 2^32 - 1 rounds, a call allocates new slots.
  mutating func removeAll() {
    count = 0
    round += 1
    // The round has 32 bits in a slot. After the last one, the set begins again with empty slots.
    if round > UInt64(UInt32.max) { self = PointSet() }
  }

  /// Adds a number.
  @inline(__always)
  mutating func insert(_ number: UInt32) -> Bool {
    if count * 2 >= slots.count { grow() }
    let (slot, isThere) = slot(of: number)
    if isThere { return false }
    slots[slot] = round << 32 | UInt64(number)
    count += 1
    return true
  }

  /// - Complexity: O(1) on average.
  @inline(__always)
  func contains(_ number: UInt32) -> Bool { slot(of: number).isThere }

  /// Returns the slot of the number. If the set does not have the number, returns the empty slot
  /// where it belongs.
  @inline(__always)
  private func slot(of number: UInt32) -> (slot: Int, isThere: Bool) {
    let wanted = round << 32 | UInt64(number)
    // The multiplication spreads adjacent numbers. The count of slots is a power of two.
    var slot = Int(truncatingIfNeeded: (number &* 0x9E37_79B1) >> 7) & (slots.count - 1)
    while slots[slot] >> 32 == round {
      if slots[slot] == wanted { return (slot, true) }
      slot = (slot + 1) & (slots.count - 1)
    }
    return (slot, false)
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: old.count * 2)
    for content in old where content >> 32 == round {
      slots[slot(of: UInt32(truncatingIfNeeded: content)).slot] = content
    }
  }
}
