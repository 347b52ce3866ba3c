/// Which number each one in use becomes when those that are free are left out; their order stays.
struct Renumbering: Sendable {
  private let numbers: [UInt32]

  /// - Parameter isUsed: Whether each number below `count` is in use.
  init(count: Int, isUsed: (Int) -> Bool) {
    var next: UInt32 = 0
    numbers = (0..<count).map { number in
      defer { next += isUsed(number) ? 1 : 0 }
      return next
    }
  }

  /// What a number that is in use becomes.
  subscript(number: UInt32) -> UInt32 { numbers[Int(number)] }

  /// Whether so many free numbers among those in use are worth a look at everything that mentions one.
  ///
  /// More are free than used then, so that at least as many were released since the last time, and
  /// they are no small part of the mentions.
  static func isWorthIt(free: Int, used: Int, mentions: Int = 0) -> Bool {
    free > used + 64 && free > mentions / 16
  }
}

extension Array {
  /// How much memory the elements have, used or not.
  var bytes: Int { capacity * MemoryLayout<Element>.stride }
}
