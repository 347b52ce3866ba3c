/// A table of elements by small whole numbers. The number of an element stays the same while the
/// element is in the table.
///
/// nghttp2 keeps one pointer for each stream. Petrel stores the number there, so C code never holds
/// a reference to a Swift object.
struct SlotTable<Element> {
  private var elements: [Element?] = []
  /// The numbers of removed elements. The next insertion uses one of them.
  private var free: [Int] = []

  /// The number of elements.
  var count: Int { elements.count - free.count }

  /// Adds an element.
  ///
  /// - Returns: the element's slot: the one that was freed last, or a new one at the end.
  /// - Complexity: O(1) on average.
  mutating func insert(_ element: Element) -> Int {
    guard let slot = free.popLast() else {
      elements.append(element)
      return elements.count - 1
    }
    elements[slot] = element
    return slot
  }

  /// Removes the element of a slot and frees the slot; `nil` if the slot is empty. The slot must be
  /// one that the table gave out.
  mutating func remove(_ slot: Int) -> Element? {
    guard let element = elements[slot].take() else { return nil }
    free.append(slot)
    return element
  }

  /// Empties the table and returns its elements in the order of their slots.
  mutating func removeAll() -> [Element] {
    defer { self = SlotTable() }
    return elements.compactMap(\.self)
  }

  /// All elements with their slots.
  ///
  /// - Complexity: O(*n*) in the greatest number of elements that the table ever had.
  var entries: [(slot: Int, element: Element)] {
    elements.enumerated().compactMap { slot, element in element.map { (slot, $0) } }
  }

  /// The element of a slot that the table gave out; `nil` if the slot is empty. Changes happen in
  /// place.
  subscript(slot: Int) -> Element? {
    _read { yield elements[slot] }
    _modify { yield &elements[slot] }
  }
}
