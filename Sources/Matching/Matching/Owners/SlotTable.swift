/// A table of elements under small integers ("slots").
///
/// An element keeps its slot until it is removed or ``renumber()`` is called. A free slot is used
/// again. Other structures refer to an element with the four bytes of its slot.
///
/// - Complexity: O(1) for ``insert(_:)`` (amortized), ``remove(_:)`` and the subscript; O(*n*) for
///   ``renumber()`` and ``indices``, where *n* is the number of slots, the free ones included.
struct SlotTable<Element: Sendable>: Sendable {
  /// The elements, by slot; `nil` in a free slot.
  private var slots: [Element?] = []
  private var free: [Int32] = []
  var count: Int { slots.count - free.count }

  mutating func insert(_ element: Element) -> Int32 {
    if let slot = free.popLast() {
      slots[Int(slot)] = element
      return slot
    }
    slots.append(element)
    return Int32(slots.count - 1)
  }

  /// - Precondition: The slot holds an element.
  mutating func remove(_ slot: Int32) {
    slots[Int(slot)] = nil
    free.append(slot)
  }

  /// - Precondition: The slot holds an element.
  subscript(slot: Int32) -> Element {
    // An empty slot means that the tables contradict each other: to continue would lose matches.
    get { slots[Int(slot)]! }
    _modify { yield &slots[Int(slot)]! }
  }

  var freeCount: Int { free.count }
  var bytes: Int { slots.bytes + free.bytes }

  /// Numbers the slots anew, without gaps and in the same order. The caller must update each slot
  /// that it has stored.
  mutating func renumber() -> Renumbering {
    let renumbering = Renumbering(count: slots.count) { slots[$0] != nil }
    slots = indices.map { slots[Int($0)] }
    free = []
    return renumbering
  }

  /// Returns the first slot that holds an element, from `start` on and then from the beginning.
  ///
  /// - Precondition: The table has an element.
  /// - Complexity: O(*n*), where *n* is the number of free slots.
  func slot(from start: Int32) -> Int32 {
    var slot = Int(start) < slots.count ? Int(start) : 0
    while slots[slot] == nil { slot = slot + 1 < slots.count ? slot + 1 : 0 }
    return Int32(slot)
  }

  var indices: [Int32] { slots.indices.lazy.filter { slots[$0] != nil }.map { Int32($0) } }
}
