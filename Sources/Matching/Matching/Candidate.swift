/// An entry where it is filed, with what is still to be asked of a change that came there.
///
/// Most entries have at most one more condition: it stands here, so that nothing else is looked at.
struct Candidate: BitwiseCopyable, Sendable {
  /// What is asked.
  enum Check: UInt8 {
    case nothing
    /// That a value is between ``Candidate/low`` and ``Candidate/high``.
    case range
    /// That a place is in the ``PlaceCap`` in ``Candidate/low`` and ``Candidate/high``; what is at its
    /// edge is decided by the entry's program.
    case cap
    /// That the change has the point ``Candidate/low``.
    case point
    /// All that the entry's program says.
    case program
  }

  static let none = Candidate(entry: 0, events: 0, check: .nothing, isMetAgain: false)

  var entry: UInt32
  /// From the lowest bits: events (3), whether a range is all that is asked (1), check (3), whether an
  /// entry may be met more than once (1), the number of the ordered value or the field that is checked
  /// (16).
  private var bits: UInt32
  var low: UInt64
  var high: UInt64

  init(
    entry: UInt32, events: UInt8, check: Check, isMetAgain: Bool, path: Int = 0, low: UInt64 = 0,
    high: UInt64 = .max
  ) {
    self.entry = entry
    let isPlain = !isMetAgain && (check == .nothing || check == .range)
    bits =
      UInt32(events) | (isPlain ? 1 << 3 : 0) | UInt32(check.rawValue) << 4
      | (isMetAgain ? 1 << 7 : 0) | UInt32(path) << 8
    self.low = low
    self.high = high
  }

  /// Notes that the points have other numbers.
  mutating func renumberPoints(_ renumbering: Renumbering) {
    if check == .point { low = UInt64(renumbering[UInt32(low)]) }
  }

  mutating func renumberEntries(_ renumbering: Renumbering) { entry = renumbering[entry] }

  @inline(__always) func fires(on event: UInt8) -> Bool { bits & UInt32(event) != 0 }
  /// Whether the entry fires exactly when the ordered value ``path`` is between ``low`` and ``high``:
  /// where nothing is asked that is value 0, which is between all bounds.
  @inline(__always) var isPlain: Bool { bits & 1 << 3 != 0 }
  // Only checks were put there.
  @inline(__always) var check: Check { Check(rawValue: UInt8(bits >> 4 & 7)) ?? .program }
  @inline(__always) var isMetAgain: Bool { bits & 1 << 7 != 0 }
  @inline(__always) var path: Int { Int(bits >> 8) }

  /// The same in short, if nothing is asked.
  var certain: CertainCandidate? {
    guard check == .nothing, !isMetAgain else { return nil }
    return CertainCandidate(entry: entry, events: UInt8(bits & 7))
  }
}

/// An entry where it is filed that fires on every change which came there, if the event is right.
struct CertainCandidate: BitwiseCopyable, Sendable {
  static let none = CertainCandidate(entry: 0, events: 0)

  /// The entry's number above the events: there are fewer entries than half a thousand million.
  private var bits: UInt32

  init(entry: UInt32, events: UInt8) {
    bits = entry << 3 | UInt32(events)
  }

  mutating func renumberEntries(_ renumbering: Renumbering) {
    bits = renumbering[entry] << 3 | bits & 7
  }

  @inline(__always) var entry: UInt32 { bits >> 3 }
  @inline(__always) func fires(on event: UInt8) -> Bool { bits & UInt32(event) != 0 }
}
