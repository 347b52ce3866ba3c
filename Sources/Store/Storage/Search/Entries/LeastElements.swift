/// The least of all added elements, in memory that depends on ``capacity`` alone.
///
/// - Complexity: O(1) to add an element that is greater than ``bound``. O(log *c*) on average for
///   another element, where *c* is the capacity: 2*c* elements are sorted after each *c* additions.
struct LeastElements<Element: Comparable> {
  /// The least elements kept at any time, above 0; up to twice as many, less one, are in memory.
  let capacity: Int
  /// The kept elements, in no order.
  private var kept: [Element] = []
  /// The greatest element kept at the last removal. A greater one is not added.
  private(set) var bound: Element?

  init(capacity: Int) {
    self.capacity = capacity
    kept.reserveCapacity(2 * capacity)
  }

  /// Each element that was left out is at least as great as all kept ones.
  var hasDropped: Bool { bound != nil }

  /// Removes the greater half at twice the capacity.
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
