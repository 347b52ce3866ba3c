/// A table that gives each of its elements a small whole number, the slot. The slot of an element
/// stays the same while the element is in the table.
///
/// nghttp2, the C library for HTTP/2, keeps one pointer of user data for each stream. Petrel stores
/// the slot and one more in place of that pointer, so a stream needs no reference from C to a Swift object.
struct StreamSlots<Element> {
  private var elements: [Element?] = []
  /// The slots of removed elements. The next insertion uses the last slot of this list.
  private var free: [Int] = []

  var count: Int { elements.count - free.count }

  /// Adds an element at the slot that was freed last, or at a new one, and returns the slot.
  mutating func insert(_ element: Element) -> Int {
    guard let slot = free.popLast() else {
      elements.append(element)
      return elements.count - 1
    }
    elements[slot] = element
    return slot
  }

  /// Frees a slot, which must come from ``insert(_:)``, and returns its element.
  mutating func remove(_ slot: Int) -> Element? {
    guard let element = elements[slot].take() else { return nil }
    free.append(slot)
    return element
  }

  mutating func removeAll() -> [Element] {
    defer { self = StreamSlots() }
    return elements.compactMap(\.self)
  }

  /// All elements with their slots, in O(*n*) for the greatest number of elements so far.
  var entries: [(slot: Int, element: Element)] {
    elements.enumerated().compactMap { slot, element in element.map { (slot, $0) } }
  }

  /// The element of a slot; `nil` if the slot is empty. The slot must come from ``insert(_:)``. A
  /// change happens in place, without a copy of the element.
  subscript(slot: Int) -> Element? {
    _read { yield elements[slot] }
    _modify { yield &elements[slot] }
  }
}
