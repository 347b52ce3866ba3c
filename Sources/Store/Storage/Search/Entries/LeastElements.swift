/// Keeps the least of any number of elements that pass by, in memory for few.
///
/// - Complexity: constant time for each element that is greater than those that are kept; for the
///   others, that of sorting twice as many as are kept, spread over as many.
struct LeastElements<Element: Comparable> {
  /// How many are kept at least.
  let capacity: Int
  private var kept: [Element] = []
  /// The greatest that is kept, once there were too many.
  private(set) var bound: Element?

  init(capacity: Int) {
    self.capacity = capacity
    kept.reserveCapacity(2 * capacity)
  }

  /// Whether there were some that are not kept, all of them greater than those that are.
  var hasDropped: Bool { bound != nil }

  mutating func add(_ element: Element) {
    if let bound, bound < element { return }
    kept.append(element)
    guard kept.count == 2 * capacity else { return }
    kept.sort()
    kept.removeLast(capacity)
    bound = kept.last
  }

  /// Those that are kept, in ascending order.
  var sorted: [Element] { kept.sorted() }
}
