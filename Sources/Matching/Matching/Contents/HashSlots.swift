/// A hash table of numbers whose keys lie elsewhere: eight bytes a slot, linear probing.
///
/// Keys stand in the order of their hashes or right behind, so that growing goes through old and new
/// slots from one end to the other, and a table may have any size.
struct HashSlots: Sendable {
  /// The upper half of a key's hash, which says where it belongs, and its number plus one; 0 for an
  /// empty slot.
  private var slots: [UInt64] = []
  private(set) var count = 0
  /// Whether memory counts for more than time.
  private let isDense: Bool

  init(isDense: Bool = false) {
    self.isDense = isDense
  }

  /// Has the place where a hash belongs brought near.
  @inline(__always)
  func prefetch(_ hash: UInt64) { slots.prefetch(home(of: hash)) }

  /// The number whose key has this hash and satisfies `isKey`, of which the upper half of the hash has
  /// been compared: most likely the first that is asked about is the one.
  @inline(__always)
  func find(hash: UInt64, _ isKey: (UInt32) -> Bool) -> UInt32? {
    if slots.isEmpty { return nil }
    var slot = home(of: hash)
    while slots[slot] != 0 {
      if slots[slot] >> 32 == hash >> 32 {
        let number = UInt32(truncatingIfNeeded: slots[slot]) - 1
        if isKey(number) { return number }
      }
      slot = next(slot)
    }
    return nil
  }

  /// Adds a number whose key is not there.
  mutating func insert(_ number: UInt32, hash: UInt64) {
    // From four ninths to two thirds are full or, where that is too much memory, up to four fifths.
    let (parts, full) = isDense ? (5, 4) : (3, 2)
    if slots.count * full < (count + 1) * parts {
      resize(to: max(16, slots.count / full * parts))
    }
    put(hash & 0xFFFF_FFFF_0000_0000 | UInt64(number + 1))
    count += 1
  }

  mutating func remove(_ number: UInt32, hash: UInt64) {
    var slot = home(of: hash)
    while UInt32(truncatingIfNeeded: slots[slot]) != number + 1 { slot = next(slot) }
    // Those behind it move up, so that no gap comes between a number and its first slot.
    var moved = next(slot)
    while slots[moved] != 0 {
      if distance(from: home(of: slots[moved]), to: moved) >= distance(from: slot, to: moved) {
        slots[slot] = slots[moved]
        slot = moved
      }
      moved = next(moved)
    }
    slots[slot] = 0
    count -= 1
    if count == 0 {
      slots = []
    } else if slots.count > 64, count * 8 < slots.count {
      resize(to: slots.count / 3)
    }
  }

  /// Notes that each number is another one by now.
  mutating func renumber(_ renumbering: Renumbering) {
    for slot in slots.indices where slots[slot] != 0 {
      let number = renumbering[UInt32(truncatingIfNeeded: slots[slot]) - 1]
      slots[slot] = slots[slot] & 0xFFFF_FFFF_0000_0000 | UInt64(number + 1)
    }
  }

  var bytes: Int { slots.bytes }

  @inline(__always)
  private func home(of hash: UInt64) -> Int { Int(((hash >> 32) &* UInt64(slots.count)) >> 32) }

  @inline(__always)
  private func next(_ slot: Int) -> Int { slot + 1 == slots.count ? 0 : slot + 1 }

  private func distance(from slot: Int, to other: Int) -> Int {
    other >= slot ? other - slot : other - slot + slots.count
  }

  private mutating func put(_ content: UInt64) {
    var slot = home(of: content)
    while slots[slot] != 0 { slot = next(slot) }
    slots[slot] = content
  }

  private mutating func resize(to size: Int) {
    let old = slots
    slots = [UInt64](repeating: 0, count: size)
    for content in old where content != 0 { put(content) }
  }
}
