/// A list in which each element occurs once, in the order of the additions.
struct UniqueList<Element: Hashable> {
  /// The elements, and nil at the places of removed ones.
  private var slots: [Element?] = []
  private var places: [Element: Int] = [:]
  /// The place before which all slots are nil.
  private var start = 0

  func contains(_ element: Element) -> Bool { places[element] != nil }

  /// - Complexity: O(1) on average. An element that the list has stays at its place.
  mutating func append(_ element: Element) {
    if contains(element) { return }
    compact()
    places[element] = slots.count
    slots.append(element)
  }

  /// - Complexity: O(1) on average.
  mutating func remove(_ element: Element) {
    guard let place = places.removeValue(forKey: element) else { return }
    slots[place] = nil
    while start < slots.count, slots[start] == nil { start += 1 }
  }

  /// Removes the empty slots if they are most of all. So each addition moves few elements on average.
  private mutating func compact() {
    guard slots.count > 16, slots.count > 2 * places.count else { return }
    slots.removeAll { $0 == nil }
    start = 0
    for (place, element) in slots.enumerated() {
      if let element { places[element] = place }
    }
  }
}

extension UniqueList: Sendable where Element: Sendable {}

extension UniqueList: Sequence {
  func makeIterator() -> some IteratorProtocol<Element> {
    slots[start...].lazy.compactMap { $0 }.makeIterator()
  }
}
