/// The map from old to new numbers after the free numbers were left out. The order of the numbers
/// stays.
struct Renumbering: Sendable {
  /// The new number of each old one. The element of a free number is not meaningful.
  private let numbers: [UInt32]

  /// Creates the map.
  ///
  /// - Parameters:
  ///   - count: The number of old numbers, 0 up to `count - 1`.
  ///   - isUsed: Returns whether a number is in use. It is called once for each number, in order.
  /// - Complexity: O(`count`)
  init(count: Int, isUsed: (Int) -> Bool) {
    var next: UInt32 = 0
    numbers = (0..<count).map { number in
      defer { next += isUsed(number) ? 1 : 0 }
      return next
    }
  }

  /// The new number of a number that was in use.
  subscript(number: UInt32) -> UInt32 { numbers[Int(number)] }

  /// Whether the free numbers justify a pass over everything that mentions a number.
  ///
  /// There must be at least 65 more free numbers than used ones. At least as many were therefore
  /// released since the last pass, which makes the cost of a release O(1), amortized. The free
  /// numbers must also be more than one sixteenth of the mentions.
  ///
  /// - Parameters:
  ///   - free: The count of the free numbers.
  ///   - used: The count of the numbers in use.
  ///   - mentions: The count of the places outside the table that hold a number.
  static func isWorthIt(free: Int, used: Int, mentions: Int = 0) -> Bool {
    free > used + 64 && free > mentions / 16
  }
}

extension Array {
  /// The size of the array's memory in bytes, whether the elements use it or not.
  var bytes: Int { capacity * MemoryLayout<Element>.stride }
}
