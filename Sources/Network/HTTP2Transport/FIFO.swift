/// A queue: first in, first out.
package struct FIFO<Element> {
  private var elements: [Element?] = []
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

  /// - Complexity: O(1) on average; the space of taken elements is given back when they are half.
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

  package mutating func removeAll() -> [Element] {
    defer { self = FIFO() }
    return elements[head...].compactMap(\.self)
  }
}
