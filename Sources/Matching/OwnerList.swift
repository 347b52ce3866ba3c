/// The owners of an entry. Most entries have one, which stands in the list itself; the others lie in
/// ``Runs`` beside each other, so that those of an entry with a million are read in one go.
struct OwnerList: BitwiseCopyable, Sendable {
  static let empty = OwnerList()

  /// An owner's slot, -1 for none.
  private(set) var first: Int32 = -1
  private var others = RunList()

  var isEmpty: Bool { first < 0 }
  var count: Int { isEmpty ? 0 : 1 + Int(others.count) }

  /// Where the owners but the first are.
  @inline(__always) var rest: Range<Int> { others.range }

  /// - Returns: the owner's place in the list.
  mutating func append(_ owner: Int32, in runs: inout Runs<Int32>) -> UInt32 {
    guard !isEmpty else {
      first = owner
      return 0
    }
    return others.append(owner, in: &runs) + 1
  }

  /// Removes an owner by putting another in its place.
  ///
  /// - Returns: the owner that is at `place` now; nil when the removed one was the last.
  mutating func remove(at place: UInt32, in runs: inout Runs<Int32>) -> Int32? {
    if place > 0 { return others.remove(at: place - 1, in: &runs) }
    guard !others.isEmpty else {
      first = -1
      return nil
    }
    let last = others.count - 1
    first = runs[others.start + last]
    _ = others.remove(at: last, in: &runs)
    return first
  }

  /// Notes that the owner at a place has another slot.
  mutating func setOwner(_ owner: Int32, at place: UInt32, in runs: inout Runs<Int32>) {
    if place == 0 { first = owner } else { runs[others.start + place - 1] = owner }
  }

  mutating func move(from old: Runs<Int32>, to new: inout Runs<Int32>) {
    others.move(from: old, to: &new)
  }
}
