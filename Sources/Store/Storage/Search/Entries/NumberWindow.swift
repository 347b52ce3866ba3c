/// A test by the value index whether records have a certain key.
/// A read answers for several neighbouring numbers, because the entries of a key are in the order
/// of record numbers. Numbers that rise in small steps make reads large; scattered ones make them
/// small.
struct NumberWindow {
  /// The cost of a seek in index entries: the time to read one entry in order.
  static let seekCost = 18

  private static let sizes = 2...1_024
  private let keyRange: FieldKeyRange
  /// The numbers in ``covered`` with the key, in ascending order.
  private var numbers: [Int64] = []
  private var covered: ClosedRange<Int64>?
  private var size = sizes.lowerBound
  /// All reads so far, in index entries.
  private(set) var cost = 0

  init?(_ keyRange: FieldKeyRange) {
    guard keyRange.range.lower == keyRange.range.upper else { return nil }
    self.keyRange = keyRange
  }

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

  /// Twice as many as before if `number` follows soon after `covered`, otherwise a quarter.
  private static func size(
    after size: Int, from covered: ClosedRange<Int64>, count: Int, to number: Int64
  ) -> Int {
    let gap = Double(number - covered.upperBound) * Double(count)
    let span = Double(covered.upperBound - covered.lowerBound) + 1
    let isNear = gap > 0 && gap < Double(seekCost) * span
    return isNear ? min(sizes.upperBound, size * 2) : max(sizes.lowerBound, size / 4)
  }

  private mutating func read(from number: Int64, in search: RecordSearch) throws {
    numbers.removeAll(keepingCapacity: true)
    try search.transaction.connection.query(
      ValueIndexTable.sql.entries(.oneKey, isDescending: false, inZone: false),
      [
        .id(search.database), .integer(keyRange.field), .bytes(keyRange.range.lower),
        .integer(number - 1), .count(size),
      ]
    ) { numbers.append($0.integer(0)) }
    cost += Self.seekCost + numbers.count
    covered = number...(numbers.count < size ? .max : numbers.last ?? .max)
  }
}
