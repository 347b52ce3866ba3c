/// Elements under small whole numbers that stay the same while an element lives.
///
/// nghttp2 keeps one pointer for each stream; the number goes there, so that C never holds a
/// reference to a Swift object.
struct SlotTable<Element> {
  private var elements: [Element?] = []
  private var free: [Int] = []

  var count: Int { elements.count - free.count }

  mutating func insert(_ element: Element) -> Int {
    guard let slot = free.popLast() else {
      elements.append(element)
      return elements.count - 1
    }
    elements[slot] = element
    return slot
  }

  mutating func remove(_ slot: Int) -> Element? {
    guard let element = elements[slot].take() else { return nil }
    free.append(slot)
    return element
  }

  mutating func removeAll() -> [Element] {
    defer { self = SlotTable() }
    return elements.compactMap(\.self)
  }

  /// All elements with their slots.
  ///
  /// - Complexity: O(*n*) in the greatest number of elements that there ever was.
  var entries: [(slot: Int, element: Element)] {
    elements.enumerated().compactMap { slot, element in element.map { (slot, $0) } }
  }

  subscript(slot: Int) -> Element? {
    _read { yield elements[slot] }
    _modify { yield &elements[slot] }
  }
}
