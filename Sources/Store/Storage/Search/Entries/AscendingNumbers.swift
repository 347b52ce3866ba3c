/// Record numbers in the ascending order of their keys, put in order no further than they are taken.
///
/// A binary heap (J. W. J. Williams, "Algorithm 232: Heapsort", 1964), built from the bottom up (R. W.
/// Floyd, "Algorithm 245: Treesort 3", 1964). Of a search's many candidates a page takes few.
///
/// - Complexity: linear time to make it, logarithmic time to take an element out.
struct AscendingNumbers<Key: Comparable> {
  struct Element {
    var key: Key
    var number: Int64
  }

  private var heap: [Element]

  init(_ elements: [Element]) {
    heap = elements
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(index) }
  }

  /// The element with the least key; the number tells elements with one key apart.
  var first: Element? { heap.first }

  mutating func popFirst() -> Element? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    if !heap.isEmpty {
      heap[0] = last
      sink(0)
    }
    return first
  }

  private mutating func sink(_ start: Int) {
    let element = heap[start]
    var index = start
    while true {
      var child = 2 * index + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, Self.precedes(heap[child + 1], heap[child]) { child += 1 }
      guard Self.precedes(heap[child], element) else { break }
      heap[index] = heap[child]
      index = child
    }
    heap[index] = element
  }

  private static func precedes(_ left: Element, _ right: Element) -> Bool {
    left.key == right.key ? left.number < right.number : left.key < right.key
  }
}
