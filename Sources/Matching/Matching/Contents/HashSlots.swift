/// A hash table of numbers whose keys are stored elsewhere. It has eight bytes a slot and uses
/// linear probing.
///
/// The *home slot* of a key is the slot where a search begins. It grows with the hash of the key. A
/// key is in its home slot, or in a slot shortly after it if others took the home slot first. The
/// keys are therefore nearly in the order of their hashes. Growing reads the old slots and writes
/// the new ones from one end to the other. The table can have any size, not only powers of two.
/// Removal shifts later keys back, so the table needs no marks of removed keys.
///
/// Operations take O(1) on average. ``renumber(_:)``, growing and shrinking take O(*n*), where *n*
/// is the number of slots.
struct HashSlots: Sendable {
  /// The slots. The upper half of a slot is the upper half of the key's hash, which determines the
  /// home slot. The lower half is the number plus one. An empty slot is 0.
  private var slots: [UInt64] = []
  private(set) var count = 0
  /// Whether the table prefers low memory to speed; see ``init(isDense:)``.
  private let isDense: Bool

  /// Creates an empty table.
  ///
  /// - Parameter isDense: Whether the table fills up to four fifths; otherwise to two thirds.
  init(isDense: Bool = false) {
    self.isDense = isDense
  }

  /// Starts to load the home slot of a hash into the processor's cache.
  @inline(__always)
  func prefetch(_ hash: UInt64) { slots.prefetch(home(of: hash)) }

  /// Returns the number whose key has the hash and satisfies `isKey`; `nil` if there is none.
  ///
  /// The table compares the upper 32 bits of the hashes before it calls `isKey`. If the key is in
  /// the table, the first call is therefore nearly always for its number.
  ///
  /// - Complexity: O(1) on average.
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

  /// Adds a number whose key is not in the table.
  ///
  /// - Complexity: O(1) on average, amortized. A call that grows the table takes O(*n*), where *n*
  ///   is the number of slots.
  mutating func insert(_ number: UInt32, hash: UInt64) {
    // Without removals, a table of more than 16 slots is between four ninths and two thirds full. A
    // dense one is between 64 and 80 % full.
    let (parts, full) = isDense ? (5, 4) : (3, 2)
    if slots.count * full < (count + 1) * parts {
      resize(to: max(16, slots.count / full * parts))
    }
    put(hash & 0xFFFF_FFFF_0000_0000 | UInt64(number + 1))
    count += 1
  }

  /// Removes a number.
  ///
  /// - Precondition: The table holds the number under this hash.
  /// - Complexity: O(1) on average, amortized. A table of more than 64 slots that is less than one
  ///   eighth full shrinks in O(*n*), where *n* is the number of slots.
  mutating func remove(_ number: UInt32, hash: UInt64) {
    var slot = home(of: hash)
    while UInt32(truncatingIfNeeded: slots[slot]) != number + 1 { slot = next(slot) }
    // The keys up to the next empty slot shift back, so that no empty slot comes between a key and
    // its home slot.
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

  /// - Complexity: O(*n*), where *n* is the number of slots.
  mutating func renumber(_ renumbering: Renumbering) {
    for slot in slots.indices where slots[slot] != 0 {
      let number = renumbering[UInt32(truncatingIfNeeded: slots[slot]) - 1]
      slots[slot] = slots[slot] & 0xFFFF_FFFF_0000_0000 | UInt64(number + 1)
    }
  }

  var bytes: Int { slots.bytes }

  /// Returns the home slot of a hash: the upper half of the hash, scaled to the number of slots.
  @inline(__always)
  private func home(of hash: UInt64) -> Int { Int(((hash >> 32) &* UInt64(slots.count)) >> 32) }

  /// Returns the slot after `slot`; the first slot comes after the last one.
  @inline(__always)
  private func next(_ slot: Int) -> Int { slot + 1 == slots.count ? 0 : slot + 1 }

  /// Returns the number of steps from one slot forward to another.
  private func distance(from slot: Int, to other: Int) -> Int {
    other >= slot ? other - slot : other - slot + slots.count
  }

  /// Writes the content of a slot into its home slot, or into the next empty one if that is taken.
  private mutating func put(_ content: UInt64) {
    var slot = home(of: content)
    while slots[slot] != 0 { slot = next(slot) }
    slots[slot] = content
  }

  /// Moves all contents into a table with `size` slots.
  private mutating func resize(to size: Int) {
    let old = slots
    slots = [UInt64](repeating: 0, count: size)
    for content in old where content != 0 { put(content) }
  }
}
