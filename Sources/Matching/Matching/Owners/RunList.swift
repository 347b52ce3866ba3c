/// A list whose elements are in one run of ``Runs``, a pool that many lists share.
///
/// The list itself is a start, a count and a capacity in eight bytes, so that a million short lists
/// are small. The operations take the runs as an argument.
struct RunList: BitwiseCopyable, Sendable {
  private(set) var start: UInt32 = 0
  /// The lowest 6 bits are the ``step``, from which the capacity follows. The bits above are the
  /// count. A list has fewer than 2^26 elements.
  private var size: UInt32 = 0

  /// The number of bits of the step.
  private static let stepWidth: UInt32 = 6

  @inline(__always) var count: UInt32 { size >> Self.stepWidth }
  @inline(__always) var isEmpty: Bool { count == 0 }

  @inline(__always)
  var range: Range<Int> { Int(start)..<Int(start) + Int(count) }

  /// The indices of the elements in the runs, as 32-bit numbers.
  var places: Range<UInt32> { start..<start + count }

  /// The index of the capacity in the series of ``capacity(_:)``.
  private var step: UInt32 { size & (1 << Self.stepWidth - 1) }
  /// The number of elements that the run has space for.
  private var capacity: UInt32 { Self.capacity(step) }

  /// Returns a capacity of the series 0, 1, 2, 3, 4, 6, 8, 12, 16 and so on.
  private static func capacity(_ step: UInt32) -> UInt32 {
    step == 0 ? 0 : (1 << (step / 2)) * (step % 2 == 0 ? 2 : 3) / 2
  }

  /// Appends an element. A full list moves to a run of the next capacity.
  ///
  /// - Returns: The element's place in the list, from 0.
  /// - Complexity: O(1), amortized.
  @discardableResult
  mutating func append<Element>(_ element: Element, in runs: inout Runs<Element>) -> UInt32 {
    let place = count
    if place == capacity { reserve(step + 1, in: &runs) }
    runs[start + place] = element
    size += 1 << Self.stepWidth
    return place
  }

  /// Removes an element. The last element moves to the place of the removed one.
  ///
  /// A list that fills at most a third of its run moves to a shorter one.
  ///
  /// - Returns: The element that is at `place` now; `nil` if the removed element was the last.
  /// - Complexity: O(1), amortized.
  mutating func remove<Element>(at place: UInt32, in runs: inout Runs<Element>) -> Element? {
    size -= 1 << Self.stepWidth
    let last = runs[start + count]
    if place < count { runs[start + place] = last }
    if isEmpty {
      runs.free(start, count: Int(capacity))
      self = RunList()
      return nil
    }
    if count <= capacity / 3 { reserve(step - 2, in: &runs) }
    return place < count ? last : nil
  }

  /// Moves the list into other runs, with the least capacity that is enough. The old runs stay
  /// unchanged; the caller discards them as a whole.
  ///
  /// - Complexity: O(*n*), where *n* is the number of elements.
  mutating func move<Element>(from old: Runs<Element>, to new: inout Runs<Element>) {
    guard !isEmpty else { return }
    let (oldStart, elements) = (start, count)
    var step: UInt32 = 0
    while Self.capacity(step) < elements { step += 1 }
    size = elements << Self.stepWidth | step
    start = new.allocate(Int(capacity))
    for place in 0..<elements { new[start + place] = old[oldStart + place] }
  }

  private mutating func reserve<Element>(_ step: UInt32, in runs: inout Runs<Element>) {
    let (old, oldCapacity) = (start, capacity)
    start = runs.allocate(Int(Self.capacity(step)))
    for place in 0..<count { runs[start + place] = runs[old + place] }
    runs.free(old, count: Int(oldCapacity))
    size = count << Self.stepWidth | step
  }
}
