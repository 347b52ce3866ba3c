/// A hash table of numbers whose keys lie elsewhere: eight bytes a slot, linear probing.
struct HashSlots: Sendable {
  /// The upper half of a key's hash, which says where it belongs, and its number plus one; 0 for an
  /// empty slot.
  private var slots: [UInt64] = []
  private(set) var count = 0

  /// The number whose key has this hash and satisfies `isKey`.
  @inline(__always)
  func find(hash: UInt64, _ isKey: (UInt32) -> Bool) -> UInt32? {
    if slots.isEmpty { return nil }
    let mask = slots.count - 1
    var slot = Int(hash >> 32) & mask
    while true {
      let content = slots[slot]
      if content == 0 { return nil }
      if content >> 32 == hash >> 32 {
        let number = UInt32(truncatingIfNeeded: content) - 1
        if isKey(number) { return number }
      }
      slot = (slot + 1) & mask
    }
  }

  /// Adds a number whose key is not there.
  mutating func insert(_ number: UInt32, hash: UInt64) {
    if slots.count * 5 < (count + 1) * 8 { resize(to: max(16, slots.count * 2)) }
    put(hash & 0xFFFF_FFFF_0000_0000 | UInt64(number + 1))
    count += 1
  }

  mutating func remove(_ number: UInt32, hash: UInt64) {
    let mask = slots.count - 1
    var slot = Int(hash >> 32) & mask
    while UInt32(truncatingIfNeeded: slots[slot]) != number + 1 { slot = (slot + 1) & mask }
    // Those behind it move up, so that no gap comes between a number and its first slot.
    var next = (slot + 1) & mask
    while slots[next] != 0 {
      let home = Int(slots[next] >> 32) & mask
      if (next - home) & mask >= (next - slot) & mask {
        slots[slot] = slots[next]
        slot = next
      }
      next = (next + 1) & mask
    }
    slots[slot] = 0
    count -= 1
    if count == 0 {
      slots = []
    } else if slots.count > 64, count * 8 < slots.count {
      resize(to: slots.count / 2)
    }
  }

  private mutating func put(_ content: UInt64) {
    let mask = slots.count - 1
    var slot = Int(content >> 32) & mask
    while slots[slot] != 0 { slot = (slot + 1) & mask }
    slots[slot] = content
  }

  private mutating func resize(to size: Int) {
    let old = slots
    slots = [UInt64](repeating: 0, count: size)
    for content in old where content != 0 { put(content) }
  }
}
