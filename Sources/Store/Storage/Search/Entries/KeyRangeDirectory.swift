/// Tells whether keys of eight bytes lie in one of many ranges, about as soon as in one.
///
/// - Complexity: constant time for a key where the ranges are spread evenly between the first and the
///   last; at worst linear in them.
struct KeyRangeDirectory {
  /// What lies between the first range and the last is cut into so many pieces at most, so that few of
  /// them have a range's end within: 64 KB, which a processor has at hand.
  private static let pieceBits = 16

  /// From the first range to the last; nil when there is none.
  let envelope: ClosedRange<UInt64>?
  /// In order and apart.
  private let ranges: [ClosedRange<UInt64>]
  private let shift: UInt64
  /// What is true of each piece's keys.
  private var pieces: [Piece] = []

  private enum Piece: UInt8 {
    case outside, inside, mixed
  }

  /// - Parameter ranges: In order and apart.
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
