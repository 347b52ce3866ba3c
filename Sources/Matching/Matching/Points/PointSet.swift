/// The points of one change. They are few, so that the set stays near the processor whatever their
/// numbers are, and it is emptied without a look at it.
struct PointSet: Sendable {
  /// In the upper half the round in which the slot was filled, in the lower the number. A slot of
  /// another round is empty.
  private var slots = [UInt64](repeating: 0, count: 256)
  private var round: UInt64 = 1
  private var count = 0

  mutating func removeAll() {
    count = 0
    round += 1
    // After four thousand million rounds they begin anew.
    if round > UInt64(UInt32.max) { self = PointSet() }
  }

  /// - Returns: whether the number was not there.
  @inline(__always)
  mutating func insert(_ number: UInt32) -> Bool {
    if count * 2 >= slots.count { grow() }
    let (slot, isThere) = slot(of: number)
    if isThere { return false }
    slots[slot] = round << 32 | UInt64(number)
    count += 1
    return true
  }

  @inline(__always)
  func contains(_ number: UInt32) -> Bool { slot(of: number).isThere }

  /// Where the number is, or the first empty slot where it belongs.
  @inline(__always)
  private func slot(of number: UInt32) -> (slot: Int, isThere: Bool) {
    let wanted = round << 32 | UInt64(number)
    // The product spreads numbers that lie beside each other. There are 2^n slots.
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
