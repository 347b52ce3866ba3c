/// A table that gives each of its elements a small whole number, the slot. The slot of an element
/// stays the same while the element is in the table.
///
/// nghttp2, the C library for HTTP/2, keeps one pointer of user data for each stream. Petrel stores
/// the slot and one more in place of that pointer, so a stream needs no reference from C to a Swift object.
struct StreamSlots<Element> {
  private var elements: [Element?] = []
  /// The slots of removed elements. The next insertion uses the last slot of this list.
  private var free: [Int] = []

  /// The number of elements.
  var count: Int { elements.count - free.count }

  /// Adds an element.
  ///
  /// - Returns: the element's slot: the slot that was freed last, or a new slot at the end if none
  ///   is free.
  /// - Complexity: O(1) on average.
  mutating func insert(_ element: Element) -> Int {
    guard let slot = free.popLast() else {
      elements.append(element)
      return elements.count - 1
    }
    elements[slot] = element
    return slot
  }

  /// Removes the element of a slot, frees the slot and returns the element; returns `nil` if the
  /// slot is empty. The slot must come from ``insert(_:)``.
  mutating func remove(_ slot: Int) -> Element? {
    guard let element = elements[slot].take() else { return nil }
    free.append(slot)
    return element
  }

  /// Empties the table and returns its elements in the order of their slots.
  mutating func removeAll() -> [Element] {
    defer { self = StreamSlots() }
    return elements.compactMap(\.self)
  }

  /// All elements with their slots.
  ///
  /// - Complexity: O(*n*), where *n* is the greatest number of elements that the table had at one
  ///   time.
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
