/// A queue: what came first leaves first.
struct FirstInFirstOut<Element> {
  private var elements: [Element] = []
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

  /// Takes out, in order, up to `most` elements that `isWanted` says; the others keep their order.
  ///
  /// - Parameter looks: how many are looked at, at most.
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

  mutating func removeAll() -> [Element] {
    defer {
      elements = []
      head = 0
    }
    return Array(elements[head...])
  }
}
