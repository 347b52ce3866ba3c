/// A pool of short arrays ("runs") in one array.
///
/// A freed run is used again for a run of the same length. When ``isWorthMoving`` is true, the code
/// that uses the pool moves the remaining runs into the pool that ``emptied()`` returns. Indices
/// have 32 bits.
struct Runs<Element: BitwiseCopyable & Sendable>: Sendable {
  /// The elements of all runs, the free ones included.
  private(set) var elements: [Element] = []
  /// The indices of the first elements of free runs, by the length of the run.
  private var free: [Int: [UInt32]] = [:]
  /// The number of elements in runs that are not free.
  private(set) var used = 0
  private let filler: Element

  /// Creates an empty pool.
  init(filler: Element) {
    self.filler = filler
  }

  /// Whether the free elements exceed the used ones by more than 4,096.
  var isWorthMoving: Bool { elements.count > 2 * used + 4_096 }

  var bytes: Int {
    elements.bytes + free.values.reduce(0) { $0 + $1.bytes }
  }

  /// Allocates a run and returns the index of its first element. The contents of the run are not
  /// defined.
  ///
  /// - Parameter count: The length of the run. 0 gives index 0 and allocates nothing.
  /// - Complexity: O(*n*) for a new run of *n* elements, amortized; O(1) for a freed one.
  mutating func allocate(_ count: Int) -> UInt32 {
    if count == 0 { return 0 }
    used += count
    if let start = free[count]?.popLast() { return start }
    let start = UInt32(elements.count)
    elements.append(contentsOf: repeatElement(filler, count: count))
    return start
  }

  /// Frees a run. When no run is left, the pool releases its memory.
  ///
  /// - Complexity: O(1), amortized.
  mutating func free(_ start: UInt32, count: Int) {
    if count == 0 { return }
    used -= count
    guard used > 0 else {
      self = Runs(filler: filler)
      return
    }
    free[count, default: []].append(start)
  }

  /// Adds a copy of the run of another pool that has `count` elements from the index `start`.
  ///
  /// - Returns: The index of the first element of the copy.
  /// - Complexity: O(*n*), where *n* is the length of the run.
  mutating func add(_ others: Runs, _ start: UInt32, _ count: UInt32) -> UInt32 {
    let first = allocate(Int(count))
    for place in 0..<count { self[first + place] = others[start + place] }
    return first
  }

  /// Returns an empty pool with capacity for the elements that are used in this one.
  func emptied() -> Runs {
    var runs = Runs(filler: filler)
    runs.elements.reserveCapacity(used)
    return runs
  }

  subscript(place: UInt32) -> Element {
    @inline(__always) get { elements[Int(place)] }
    @inline(__always) _modify { yield &elements[Int(place)] }
  }
}
