/// A collection that keeps the least of any number of added elements, in memory for few.
///
/// For example, with a capacity of 3, after adding 5, 2, 9, 1, 7 and 4 it has 1, 2 and 4.
///
/// - Complexity: constant time for an element greater than the kept ones. For the others, that of
///   sorting twice the kept number, amortized over that number.
struct LeastElements<Element: Comparable> {
  /// The least number of elements kept, above 0. Up to twice as many are kept for a while.
  let capacity: Int
  /// The kept elements, in no order.
  private var kept: [Element] = []
  /// The greatest kept element, once others were dropped.
  private(set) var bound: Element?

  /// Creates an empty collection.
  init(capacity: Int) {
    self.capacity = capacity
    kept.reserveCapacity(2 * capacity)
  }

  /// Whether elements were dropped, all of them greater than the kept ones.
  var hasDropped: Bool { bound != nil }

  /// Adds an element, or drops it if it is greater than ``bound``.
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
