/// Elements under small integers that stay the same while the element lives and are used again
/// afterwards, so that other structures can refer to an element with four bytes.
///
/// - Complexity: O(1) for each operation, amortized for ``insert(_:)``.
struct SlotTable<Element: Sendable>: Sendable {
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

  mutating func remove(_ slot: Int32) {
    slots[Int(slot)] = nil
    free.append(slot)
  }

  /// - Precondition: The slot holds an element.
  subscript(slot: Int32) -> Element {
    // An empty slot here means that the tables contradict each other: going on would lose matches.
    get { slots[Int(slot)]! }
    _modify { yield &slots[Int(slot)]! }
  }

  /// How many slots wait to be used again.
  var freeCount: Int { free.count }

  var bytes: Int { slots.bytes + free.bytes }

  /// Leaves out the slots that hold nothing; whoever keeps slots must be told.
  mutating func renumber() -> Renumbering {
    let renumbering = Renumbering(count: slots.count) { slots[$0] != nil }
    slots = indices.map { slots[Int($0)] }
    free = []
    return renumbering
  }

  /// The first slot that holds an element, from this one on and then from the beginning.
  ///
  /// - Precondition: There is an element.
  func slot(from start: Int32) -> Int32 {
    var slot = Int(start) < slots.count ? Int(start) : 0
    while slots[slot] == nil { slot = slot + 1 < slots.count ? slot + 1 : 0 }
    return Int32(slot)
  }

  /// The slots that hold an element.
  var indices: [Int32] { slots.indices.lazy.filter { slots[$0] != nil }.map { Int32($0) } }
}
