/// A set of record numbers, made for a great many insertions and look-ups.
///
/// Open addressing with linear probing (Knuth, The Art of Computer Programming 3, 6.4), at most
/// half full.
///
/// - Complexity: constant time for each operation, 16 to 32 bytes for each number.
struct RecordNumberSet {
  /// Zero is a free place: record numbers begin with 1.
  private var slots: [Int64]
  private var shift: UInt64
  private(set) var count = 0

  init() {
    slots = [Int64](repeating: 0, count: 64)
    shift = 58
  }

  func contains(_ number: Int64) -> Bool {
    var index = place(of: number)
    while slots[index] != 0 {
      if slots[index] == number { return true }
      index = (index + 1) & (slots.count - 1)
    }
    return false
  }

  /// Whether the number was not there before.
  @discardableResult
  mutating func insert(_ number: Int64) -> Bool {
    if (count + 1) * 2 > slots.count { grow() }
    var index = place(of: number)
    while slots[index] != 0 {
      if slots[index] == number { return false }
      index = (index + 1) & (slots.count - 1)
    }
    slots[index] = number
    count += 1
    return true
  }

  /// All numbers in ascending order.
  var sorted: [Int64] { slots.filter { $0 != 0 }.sorted() }

  private mutating func grow() {
    let numbers = slots
    slots = [Int64](repeating: 0, count: numbers.count * 2)
    shift -= 1
    for number in numbers where number != 0 {
      var index = place(of: number)
      while slots[index] != 0 { index = (index + 1) & (slots.count - 1) }
      slots[index] = number
    }
  }

  /// Multiplicative hashing by the golden ratio.
  private func place(of number: Int64) -> Int {
    Int((UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }
}
