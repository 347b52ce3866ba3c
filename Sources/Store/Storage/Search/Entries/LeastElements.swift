/// A collection that keeps the least elements of all that are added. Its memory depends on
/// ``capacity``, not on the number of added elements.
///
/// For example, the capacity is 3, and the elements 5, 2, 9, 1, 7 and 4 are added. The collection
/// then has 1, 2 and 4.
///
/// - Complexity: O(1) to add an element that is greater than ``bound``. O(log *c*) on average for
///   another element, where *c* is the capacity: 2*c* elements are sorted after each *c* additions.
struct LeastElements<Element: Comparable> {
  /// The number of least elements that are kept at any time, above 0. The collection may have up to
  /// twice as many, less one.
  let capacity: Int
  /// The kept elements, in no order.
  private var kept: [Element] = []
  /// The greatest element that was kept at the last removal; nil before the first removal. A
  /// greater element is not added.
  private(set) var bound: Element?

  /// Creates an empty collection.
  init(capacity: Int) {
    self.capacity = capacity
    kept.reserveCapacity(2 * capacity)
  }

  /// Whether added elements were left out. Each of them is at least as great as all kept ones.
  var hasDropped: Bool { bound != nil }

  /// Adds an element, unless it is greater than ``bound``. If the collection then has twice the
  /// capacity, the greater half is removed.
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
