/// A list of elements among ``Runs`` that it shares with others. It is a place in them and no more,
/// so that a million short lists are small.
struct RunList: BitwiseCopyable, Sendable {
  private(set) var start: UInt32 = 0
  /// In the lowest bits the capacity's step, above them the count. With 2^26 elements a list is as
  /// long as it can be.
  private var size: UInt32 = 0

  private static let stepWidth: UInt32 = 6

  @inline(__always) var count: UInt32 { size >> Self.stepWidth }
  @inline(__always) var isEmpty: Bool { count == 0 }

  @inline(__always)
  var range: Range<Int> { Int(start)..<Int(start) + Int(count) }

  var places: Range<UInt32> { start..<start + count }

  private var step: UInt32 { size & (1 << Self.stepWidth - 1) }
  private var capacity: UInt32 { Self.capacity(step) }

  /// 0, 1, 2, 3, 4, 6, 8, 12, 16 and so on.
  private static func capacity(_ step: UInt32) -> UInt32 {
    step == 0 ? 0 : (1 << (step / 2)) * (step % 2 == 0 ? 2 : 3) / 2
  }

  /// - Returns: the element's place in the list.
  @discardableResult
  mutating func append<Element>(_ element: Element, in runs: inout Runs<Element>) -> UInt32 {
    let place = count
    if place == capacity { reserve(step + 1, in: &runs) }
    runs[start + place] = element
    size += 1 << Self.stepWidth
    return place
  }

  /// Removes an element by putting the last one in its place.
  ///
  /// - Returns: the one that is at `place` now; nil when the removed one was the last.
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

  /// Moves the list into other runs, with no more room than it needs; the old ones are given up as a whole.
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
