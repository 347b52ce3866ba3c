import CloudKitModel

/// The filters that the index evaluates directly, each stored once under a number.
///
/// The table compares filters by their encoded bytes. The operator `==` of `Filter` is not
/// suitable, because it compares texts and doubles as Swift does. Swift treats composed and
/// decomposed accents as equal, but filters treat them as different. Swift treats a NaN as
/// different from itself, so a filter with a NaN could never be found again.
struct FilterTable: Sendable {
  private var numbers: InternedBytes
  private var filters: [Filter?] = []

  /// Creates an empty table.
  init(seed: UInt64) {
    numbers = InternedBytes(seed: seed)
  }

  /// The filter with a number.
  ///
  /// - Precondition: The number is in use.
  subscript(number: Int32) -> Filter {
    // A missing filter means that the tables contradict each other: to continue would lose matches.
    filters[Int(number)]!
  }

  var count: Int { numbers.count }
  var freeCount: Int { numbers.freeCount }

  /// The approximate size of the table in bytes. The values of filters are separate allocations,
  /// about as large as the encoded bytes.
  var bytes: Int { 2 * numbers.memoryBytes + filters.bytes }

  /// Numbers the filters anew, without gaps and in the same order. The caller must update each
  /// number that it has stored.
  ///
  /// - Complexity: O(*n*), where *n* is the count of the numbers, the free ones included.
  mutating func renumber() -> Renumbering {
    let renumbering = numbers.renumber()
    filters = filters.filter { $0 != nil }
    return renumbering
  }

  /// Returns the number of a filter and counts one more use. The caller must call ``release(_:)``
  /// once for each use.
  ///
  /// - Complexity: O(*n*) on average, amortized, where *n* is the size of the filter in bytes.
  mutating func use(_ filter: Filter) -> Int32 {
    let (number, isNew) = ContentEncoder.bytes(of: filter).withUnsafeBytes { numbers.use($0) }
    if isNew {
      if number == filters.count { filters.append(filter) } else { filters[Int(number)] = filter }
    }
    return Int32(number)
  }

  mutating func release(_ number: Int32) {
    guard numbers.release(UInt32(number)) else { return }
    filters[Int(number)] = nil
    if count == 0 { filters = [] }
  }
}
