import CloudKitModel

/// The filters that are evaluated as they are, each once.
///
/// `Filter` has an equality of its own, but it is that of Swift's strings and doubles: it takes
/// composed and decomposed accents for equal, which filters tell apart, and a NaN for different
/// from itself, so that such a filter could never be found again.
struct FilterTable: Sendable {
  private var numbers: InternedBytes
  private var filters: [Filter?] = []

  init(seed: UInt64) {
    numbers = InternedBytes(seed: seed)
  }

  subscript(number: Int32) -> Filter {
    // A missing one means that the tables contradict each other: going on would lose matches.
    filters[Int(number)]!
  }

  var count: Int { numbers.count }

  /// How many numbers wait to be used again.
  var freeCount: Int { numbers.freeCount }

  /// About how much memory all takes: values of filters lie apart, about as large as their bytes.
  var bytes: Int { 2 * numbers.memoryBytes + filters.bytes }

  /// Leaves out the numbers that are free; whoever keeps numbers must be told.
  mutating func renumber() -> Renumbering {
    let renumbering = numbers.renumber()
    filters = filters.filter { $0 != nil }
    return renumbering
  }

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
