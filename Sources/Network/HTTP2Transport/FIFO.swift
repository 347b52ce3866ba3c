/// A queue: first in, first out.
///
/// An array with a moving head. ``popFirst()`` takes an element without moving the others, and the
/// queue gives back the space of taken elements in large steps.
package struct FIFO<Element> {
  private var elements: [Element?] = []
  /// The index of the first element in `elements`. All entries before it are `nil`.
  private var head = 0

  /// Creates an empty queue.
  package init() {}

  /// The number of elements in the queue.
  package var count: Int { elements.count - head }
  /// Whether the queue has no elements.
  package var isEmpty: Bool { count == 0 }

  /// Adds an element at the end.
  ///
  /// - Complexity: O(1) on average.
  package mutating func append(_ element: Element) {
    elements.append(element)
  }

  /// Adds the elements of a sequence at the end, in their order.
  package mutating func append(contentsOf new: some Sequence<Element>) {
    for element in new { elements.append(element) }
  }

  /// Removes and returns the first element; `nil` if the queue is empty.
  ///
  /// - Complexity: O(1) on average. The queue gives back the space of taken elements when it
  ///   becomes empty, or when at least 1,024 are taken and they are half of the array.
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

  /// Empties the queue and gives back its memory.
  ///
  /// - Returns: the elements that were in the queue, in their order.
  package mutating func removeAll() -> [Element] {
    defer { self = FIFO() }
    return elements[head...].compactMap(\.self)
  }
}
