/// The list of the owners of an entry, in no order.
///
/// An *entry* is the predicate that subscriptions share. Its *owners* are these subscriptions. The
/// list has their slots in the ``OwnerTable``.
///
/// Most entries have one or two owners. The list itself contains the slots of the first two. The
/// slots of the others are adjacent in ``Runs``, so that even a million are read in one pass. A
/// list takes 16 bytes.
struct OwnerList: BitwiseCopyable, Sendable {
  static let empty = OwnerList()

  /// The slot of the first owner; -1 for none.
  private(set) var first: Int32 = -1
  private(set) var second: Int32 = -1
  /// The owners from the third on.
  private var others = RunList()

  var isEmpty: Bool { first < 0 }
  var count: Int { (first < 0 ? 0 : 1) + (second < 0 ? 0 : 1) + Int(others.count) }

  /// The indices, in the runs, of the owners from the third on.
  @inline(__always) var rest: Range<Int> { others.range }

  /// Appends an owner.
  ///
  /// - Returns: The owner's place in the list, from 0.
  /// - Complexity: O(1), amortized.
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

  /// Removes an owner. The last owner of the list moves to the place of the removed one.
  ///
  /// - Returns: The slot of the owner that is at `place` now; `nil` if the removed owner was the
  ///   last of the list.
  /// - Complexity: O(1), amortized.
  mutating func remove(at place: UInt32, in runs: inout Runs<Int32>) -> Int32? {
    if place >= 2 { return others.remove(at: place - 2, in: &runs) }
    let last = removeLast(in: &runs)
    // The count is now one less. It equals the place if the removed owner was the last one.
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

  /// Replaces the slot of the owner at a place.
  mutating func setOwner(_ owner: Int32, at place: UInt32, in runs: inout Runs<Int32>) {
    switch place {
    case 0: first = owner
    case 1: second = owner
    default: runs[others.start + place - 2] = owner
    }
  }

  /// Moves the owners from the third on into other runs. The old runs stay unchanged; the caller
  /// discards them as a whole.
  ///
  /// - Complexity: O(*n*), where *n* is the number of owners.
  mutating func move(from old: Runs<Int32>, to new: inout Runs<Int32>) {
    others.move(from: old, to: &new)
  }

  func slots(in runs: Runs<Int32>) -> [Int32] {
    [first, second].filter { $0 >= 0 } + runs.elements[rest]
  }
}
