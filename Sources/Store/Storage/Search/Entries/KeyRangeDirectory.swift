/// A test whether an eight-byte key is in one of many ranges, about as fast as for one range.
///
/// The span of all ranges is divided into *pieces* of the same size, of which all, none or some
/// keys are in a range.
///
/// - Complexity: O(1) for a key if the *n* ranges are spread evenly; at worst O(log *n*).
struct KeyRangeDirectory {
  /// 65,536 pieces of a byte each fit into a processor's cache. With so many, few contain the end
  /// of a range.
  private static let pieceBits = 16

  let envelope: ClosedRange<UInt64>?
  private let ranges: [ClosedRange<UInt64>]
  private let shift: UInt64
  private var pieces: [Piece] = []

  /// The relation of a piece's keys to the ranges.
  private enum Piece: UInt8 {
    /// The keys are outside all ranges, or inside one; or a range begins or ends here.
    case outside, inside, mixed
  }

  /// The ranges are ordered and disjoint.
  init(_ ranges: [ClosedRange<UInt64>]) {
    self.ranges = ranges
    guard let first = ranges.first, let last = ranges.last else {
      envelope = nil
      shift = 0
      return
    }
    envelope = first.lowerBound...last.upperBound
    let width = last.upperBound - first.lowerBound
    shift = UInt64(max(0, UInt64.bitWidth - width.leadingZeroBitCount - Self.pieceBits))
    guard ranges.count > 1 else { return }
    pieces = [Piece](repeating: .outside, count: Int(width >> shift) + 1)
    for range in ranges {
      let low = Int((range.lowerBound - first.lowerBound) >> shift)
      let high = Int((range.upperBound - first.lowerBound) >> shift)
      for piece in low...high { pieces[piece] = .inside }
      pieces[low] = .mixed
      pieces[high] = .mixed
    }
  }

  func contains(_ key: UInt64) -> Bool {
    guard let envelope, envelope.contains(key) else { return false }
    guard !pieces.isEmpty else { return true }
    switch pieces[Int((key - envelope.lowerBound) >> shift)] {
    case .outside: return false
    case .inside: return true
    case .mixed: return isInRange(key)
    }
  }

  private func isInRange(_ key: UInt64) -> Bool {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound <= key
  }
}
