/// A test by the value index whether records have a certain key. One read answers for several
/// neighbouring record numbers.
///
/// The entries of a key are in the order of the record numbers. If the tested numbers rise in small
/// steps, the test reads many entries at once; if they are scattered, few.
struct NumberWindow {
  /// The cost of a seek in the index, in index entries: the time to read one entry in order.
  static let seekCost = 18

  /// The least and the most entries of a read.
  private static let sizes = 2...1_024
  /// The range of the index with the key.
  private let stretch: IndexStretch
  /// The record numbers in ``covered`` that have the key, in ascending order.
  private var numbers: [Int64] = []
  /// The range of record numbers for which the last read has the answer; nil before the first read.
  private var covered: ClosedRange<Int64>?
  /// The most entries of the last read.
  private var size = sizes.lowerBound
  /// The cost of all reads so far, in index entries.
  private(set) var cost = 0

  /// Creates a test for the key of a range; nil if the range has more than one key.
  init?(_ stretch: IndexStretch) {
    guard stretch.range.lower == stretch.range.upper else { return nil }
    self.stretch = stretch
  }

  /// Returns whether a record has the key. If the last read does not answer for this number, the
  /// method reads again.
  mutating func contains(_ number: Int64, in search: RecordSearch) throws -> Bool {
    guard let covered else {
      // If no record has the key, a read from the first number on shows that for all numbers.
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

  /// Returns the number of entries to read next: twice as many as before if `number` follows soon
  /// after `covered`, otherwise a quarter.
  ///
  /// - Parameters:
  ///   - size: the most entries of the last read.
  ///   - covered: the record numbers of the last read.
  ///   - count: the number of entries that the last read has found.
  ///   - number: a record number outside of `covered`.
  private static func size(
    after size: Int, from covered: ClosedRange<Int64>, count: Int, to number: Int64
  ) -> Int {
    let gap = Double(number - covered.upperBound) * Double(count)
    let span = Double(covered.upperBound - covered.lowerBound) + 1
    let isNear = gap > 0 && gap < Double(seekCost) * span
    return isNear ? min(sizes.upperBound, size * 2) : max(sizes.lowerBound, size / 4)
  }

  /// Reads up to ``size`` entries from a record number on.
  private mutating func read(from number: Int64, in search: RecordSearch) throws {
    numbers.removeAll(keepingCapacity: true)
    try search.transaction.connection.query(
      ValueIndexTable.sql.entries(.oneKey, isDescending: false, inZone: false),
      [
        .id(search.database), .integer(stretch.field), .bytes(stretch.range.lower),
        .integer(number - 1), .integer(Int64(size)),
      ]
    ) { numbers.append($0.integer(0)) }
    cost += Self.seekCost + numbers.count
    covered = number...(numbers.count < size ? .max : numbers.last ?? .max)
  }
}
