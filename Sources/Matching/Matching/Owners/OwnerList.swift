/// The owners of an entry. Most entries have one or two, which stand in the list itself; the others
/// lie in ``Runs`` beside each other, so that those of an entry with a million are read in one go.
struct OwnerList: BitwiseCopyable, Sendable {
  static let empty = OwnerList()

  /// Slots of owners, -1 for none.
  private(set) var first: Int32 = -1
  private(set) var second: Int32 = -1
  private var others = RunList()

  var isEmpty: Bool { first < 0 }
  var count: Int { (first < 0 ? 0 : 1) + (second < 0 ? 0 : 1) + Int(others.count) }

  /// Where the owners but the first two are.
  @inline(__always) var rest: Range<Int> { others.range }

  /// - Returns: the owner's place in the list.
  mutating func append(_ owner: Int32, in runs: inout Runs<Int32>) -> UInt32 {
    if first < 0 {
      first = owner
      return 0
    }
    if second < 0 {
      second = owner
      return 1
    }
    return others.append(owner, in: &runs) + 2
  }

  /// Removes an owner by putting the last one in its place.
  ///
  /// - Returns: the owner that is at `place` now; nil when the removed one was the last.
  mutating func remove(at place: UInt32, in runs: inout Runs<Int32>) -> Int32? {
    if place >= 2 { return others.remove(at: place - 2, in: &runs) }
    let last = removeLast(in: &runs)
    // The list is as long as the place was, if that was the last.
    if place == count { return nil }
    setOwner(last, at: place, in: &runs)
    return last
  }

  private mutating func removeLast(in runs: inout Runs<Int32>) -> Int32 {
    if !others.isEmpty {
      let last = runs[others.start + others.count - 1]
      _ = others.remove(at: others.count - 1, in: &runs)
      return last
    }
    defer { if second < 0 { first = -1 } else { second = -1 } }
    return second < 0 ? first : second
  }

  /// Notes that the owner at a place has another slot.
  mutating func setOwner(_ owner: Int32, at place: UInt32, in runs: inout Runs<Int32>) {
    switch place {
    case 0: first = owner
    case 1: second = owner
    default: runs[others.start + place - 2] = owner
    }
  }

  mutating func move(from old: Runs<Int32>, to new: inout Runs<Int32>) {
    others.move(from: old, to: &new)
  }

  /// The owners in the order of their places.
  func slots(in runs: Runs<Int32>) -> [Int32] {
    [first, second].filter { $0 >= 0 } + runs.elements[rest]
  }
}
