/// A queue: first in, first out.
///
/// The queue is an array with the index of its first element, the head. ``popFirst()`` moves the
/// head and not the other elements. The places before the head are used again in large steps.
package struct FIFO<Element> {
  private var elements: [Element?] = []
  /// The index of the first element in `elements`. All entries before it are `nil`.
  private var head = 0

  package init() {}

  package var count: Int { elements.count - head }
  package var isEmpty: Bool { count == 0 }

  package mutating func append(_ element: Element) {
    elements.append(element)
  }

  package mutating func append(contentsOf new: some Sequence<Element>) {
    for element in new { elements.append(element) }
  }

  /// Removes and returns the first element; `nil` if the queue is empty.
  ///
  /// - Complexity: O(1) on average. When at least 1,024 places before the head are empty and are
  ///   half of the array, the other elements move to the front of the array.
  package mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let element = elements[head].take()
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 1024, head * 2 >= elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Empties the queue, frees its memory and returns the elements in their order.
  package mutating func removeAll() -> [Element] {
    defer { self = FIFO() }
    return elements[head...].compactMap(\.self)
  }
}
