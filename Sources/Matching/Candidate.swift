/// An entry where it is filed, with what is still to be asked of a change that came there.
///
/// Most entries have at most one more condition: it stands here, so that nothing else is looked at.
struct Candidate: BitwiseCopyable, Sendable {
  /// What is asked.
  enum Check: UInt8 {
    case nothing
    /// That a value is between ``Candidate/low`` and ``Candidate/high``.
    case range
    /// That a place is in the ``PlaceBox`` in ``Candidate/low`` and ``Candidate/high``, and then all
    /// that the entry's program says.
    case box
    /// That the change has the point ``Candidate/low``.
    case point
    /// All that the entry's program says.
    case program
  }

  var entry: UInt32
  /// From the lowest bits: events (3), check (3), whether an entry may be met more than once (1), the
  /// number of the ordered path or the field whose value is checked (16).
  private var bits: UInt32
  var low: UInt64
  var high: UInt64

  init(
    entry: UInt32, events: UInt8, check: Check, isMetAgain: Bool, path: Int = 0, low: UInt64 = 0,
    high: UInt64 = 0
  ) {
    self.entry = entry
    bits =
      UInt32(events) | UInt32(check.rawValue) << 3 | (isMetAgain ? 1 << 6 : 0) | UInt32(path) << 7
    self.low = low
    self.high = high
  }

  @inline(__always) func fires(on event: UInt8) -> Bool { bits & UInt32(event) != 0 }
  // Only checks were put there.
  @inline(__always) var check: Check { Check(rawValue: UInt8(bits >> 3 & 7)) ?? .program }
  @inline(__always) var isMetAgain: Bool { bits & 1 << 6 != 0 }
  @inline(__always) var path: Int { Int(bits >> 7) }
}

/// A list of candidates among the ``Runs`` of their index. It is a place in them and no more, so that
/// a million short lists are small.
struct CandidateList: BitwiseCopyable, Sendable {
  private(set) var start: UInt32 = 0
  private(set) var count: UInt32 = 0
  private var capacity: UInt32 = 0

  var isEmpty: Bool { count == 0 }

  var range: Range<Int> { Int(start)..<Int(start) + Int(count) }

  /// - Returns: the candidate's place in the list.
  mutating func append(_ candidate: Candidate, in runs: inout Runs<Candidate>) -> UInt32 {
    if count == capacity { reserve(max(1, capacity * 2), in: &runs) }
    runs[start + count] = candidate
    count += 1
    return count - 1
  }

  /// Removes a candidate by putting the last one in its place.
  ///
  /// - Returns: the one that is at `place` now; nil when the removed one was the last.
  mutating func remove(at place: UInt32, in runs: inout Runs<Candidate>) -> Candidate? {
    count -= 1
    let last = runs[start + count]
    if place < count { runs[start + place] = last }
    if count == 0 {
      runs.free(start, count: Int(capacity))
      self = CandidateList()
    } else if count <= capacity / 4 {
      reserve(capacity / 2, in: &runs)
    }
    return place < count ? last : nil
  }

  private mutating func reserve(_ newCapacity: UInt32, in runs: inout Runs<Candidate>) {
    let filler = Candidate(entry: 0, events: 0, check: .nothing, isMetAgain: false)
    let newStart = runs.allocate(Int(newCapacity), filledWith: filler)
    for place in 0..<count { runs[newStart + place] = runs[start + place] }
    if capacity > 0 { runs.free(start, count: Int(capacity)) }
    start = newStart
    capacity = newCapacity
  }
}
