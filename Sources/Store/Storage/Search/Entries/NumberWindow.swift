/// A test by the value index whether records have one key, for a few neighbouring numbers at a
/// time.
///
/// The entries of a key are in the order of their records' numbers. For rising numbers that are
/// close in the index it reads many entries at once, for scattered numbers few.
struct NumberWindow {
  /// The cost of a seek in the index, in entries read in order.
  static let seekCost = 18

  /// The least and the most entries of a read.
  private static let sizes = 2...1_024
  /// The range with the one key.
  private let stretch: IndexStretch
  /// The numbers in `covered` that have the key.
  private var numbers: [Int64] = []
  /// The record numbers about which ``numbers`` says everything; nil before the first read.
  private var covered: ClosedRange<Int64>?
  /// The number of entries of the last read.
  private var size = sizes.lowerBound
  /// The cost so far, in entries.
  private(set) var cost = 0

  /// Creates a window on the entries of a range; nil unless all of them have one key.
  init?(_ stretch: IndexStretch) {
    guard stretch.range.lower == stretch.range.upper else { return nil }
    self.stretch = stretch
  }

  /// Returns whether a record has the key. It reads if the last read does not cover the number.
  mutating func contains(_ number: Int64, in search: RecordSearch) throws -> Bool {
    guard let covered else {
      // Reading from the beginning shows at once if no record has the key.
      try read(from: 0, in: search)
      return try contains(number, in: search)
    }
    if !covered.contains(number) {
      size = Self.size(after: size, from: covered, count: numbers.count, to: number)
      try read(from: number, in: search)
    }
    var low = 0
    var high = numbers.count
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low < numbers.count && numbers[low] == number
  }

  /// Returns the number of entries to read for a number outside of `covered`: twice as many as
  /// before if it follows soon, otherwise a quarter.
  private static func size(
    after size: Int, from covered: ClosedRange<Int64>, count: Int, to number: Int64
  ) -> Int {
    let gap = Double(number - covered.upperBound) * Double(count)
    let span = Double(covered.upperBound - covered.lowerBound) + 1
    let isNear = gap > 0 && gap < Double(seekCost) * span
    return isNear ? min(sizes.upperBound, size * 2) : max(sizes.lowerBound, size / 4)
  }

  /// Reads the next ``size`` entries from a record number on.
  private mutating func read(from number: Int64, in search: RecordSearch) throws {
    numbers.removeAll(keepingCapacity: true)
    try search.transaction.connection.query(
      EntrySelection.text(.oneKey, isDescending: false, inZone: false),
      [
        .integer(search.database.rawValue), .integer(stretch.field), .bytes(stretch.range.lower),
        .integer(number - 1), .integer(Int64(size)),
      ]
    ) { numbers.append($0.integer(0)) }
    cost += Self.seekCost + numbers.count
    covered = number...(numbers.count < size ? .max : numbers.last ?? .max)
  }
}
