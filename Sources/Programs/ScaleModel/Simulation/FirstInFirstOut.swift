/// A first-in, first-out queue in an array.
///
/// Removed elements stay in the array until they are more than half of the array and more than
/// 1,024. ``removeFirst()`` therefore takes amortized constant time.
struct FirstInFirstOut<Element> {
  private var elements: [Element] = []
  /// The place of the first element that is still in the queue.
  private var head = 0

  var count: Int { elements.count - head }
  var isEmpty: Bool { head == elements.count }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func removeFirst() -> Element? {
    guard head < elements.count else { return nil }
    defer {
      head += 1
      if head > 1_024, head * 2 > elements.count {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head]
  }

  /// Removes and returns elements that satisfy a condition, in order. The other elements keep their
  /// order.
  ///
  /// - Parameters:
  ///   - looks: The most elements to examine, from the front.
  ///   - isWanted: Returns whether to remove an element. It is called in order, until `most`
  ///     elements are found.
  /// - Complexity: O(`looks`), amortized over all calls.
  mutating func take(
    most: Int, looks: Int, where isWanted: (Element) -> Bool
  ) -> [Element] {
    var taken: [Element] = []
    var left: [Element] = []
    let end = min(elements.count, head + looks)
    var place = head
    while place < end, taken.count < most {
      if isWanted(elements[place]) {
        taken.append(elements[place])
      } else {
        left.append(elements[place])
      }
      place += 1
    }
    guard !taken.isEmpty else { return [] }
    head = place - left.count
    for (offset, element) in left.enumerated() { elements[head + offset] = element }
    if head > 1_024, head * 2 > elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return taken
  }
}
