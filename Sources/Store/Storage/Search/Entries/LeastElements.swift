/// Keeps the least of any number of elements, in memory for few.
///
/// - Complexity: constant time for an element greater than the kept ones. For the others, that of
///   sorting twice the kept number, amortized over that number.
struct LeastElements<Element: Comparable> {
  /// The least number of elements kept.
  let capacity: Int
  private var kept: [Element] = []
  /// The greatest kept element, once others were dropped.
  private(set) var bound: Element?

  init(capacity: Int) {
    self.capacity = capacity
    kept.reserveCapacity(2 * capacity)
  }

  /// Whether elements were dropped, all of them greater than the kept ones.
  var hasDropped: Bool { bound != nil }

  mutating func add(_ element: Element) {
    if let bound, bound < element { return }
    kept.append(element)
    guard kept.count == 2 * capacity else { return }
    kept.sort()
    kept.removeLast(capacity)
    bound = kept.last
  }

  /// The kept elements in ascending order.
  var sorted: [Element] { kept.sorted() }
}
