/// The map from old to new numbers, when numbers are given anew without the free ones. The order of
/// the numbers in use stays the same.
struct Renumbering: Sendable {
  /// The new number of each old number. The element at a free number has no meaning.
  private let numbers: [UInt32]

  /// Creates the map.
  ///
  /// - Parameter isUsed: Returns whether a number is in use. It is called once for each number, in
  ///   order.
  /// - Complexity: O(`count`)
  init(count: Int, isUsed: (Int) -> Bool) {
    var next: UInt32 = 0
    numbers = (0..<count).map { number in
      defer { next += isUsed(number) ? 1 : 0 }
      return next
    }
  }

  subscript(number: UInt32) -> UInt32 { numbers[Int(number)] }

  /// Whether enough numbers are free to justify a pass over all places that store a number.
  ///
  /// There must be at least 65 more free numbers than used ones. All of them became free since the
  /// last pass, so the pass adds only O(1) to the cost of each release, amortized. The free numbers
  /// must also be more than one sixteenth of `mentions`.
  ///
  /// - Parameter mentions: The count of the places outside the table that store a number.
  static func isWorthIt(free: Int, used: Int, mentions: Int = 0) -> Bool {
    free > used + 64 && free > mentions / 16
  }
}

extension Array {
  /// The size of the array's memory in bytes, unused capacity included.
  var bytes: Int { capacity * MemoryLayout<Element>.stride }
}
