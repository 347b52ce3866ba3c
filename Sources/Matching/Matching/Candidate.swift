/// The element of a list in a ``RecordTypeIndex``: a reference to an entry, and the condition that
/// is left to check.
///
/// An *entry* is the predicate of one or more subscriptions. It is filed in the list of a point or
/// of a bound. Matching reads this list for each change that has the point or reaches the bound:
/// the change *meets* the candidates in the list.
///
/// Most entries have at most one more condition. The candidate contains that condition, so that
/// matching reads no other memory. A candidate takes 24 bytes.
struct Candidate: BitwiseCopyable, Sendable {
  /// The kind of the condition that is left to check.
  enum Check: UInt8 {
    /// No condition is left: the entry matches.
    case nothing
    /// An ordered value (``OrderedValue``) must be between ``Candidate/low`` and
    /// ``Candidate/high``, both included.
    case range
    /// A place must be in the ``PlaceCap`` that ``Candidate/low`` and ``Candidate/high`` encode.
    /// The entry's program decides places near the edge.
    case cap
    /// The change must have the point whose number is ``Candidate/low``. A point is a fact about a
    /// record.
    case point
    /// The entry's whole ``FilterProgram`` must hold.
    case program
  }

  /// The filler of unused places. It fires on no event.
  static let none = Candidate(entry: 0, events: 0, check: .nothing, isMetAgain: false)

  /// The slot of the entry in its ``RecordTypeIndex``.
  var entry: UInt32
  /// The packed properties, from the lowest bit:
  ///
  /// - 3 bits: the events;
  /// - 1 bit: ``isPlain``;
  /// - 3 bits: the check;
  /// - 1 bit: ``isMetAgain``;
  /// - 24 bits: ``path``.
  private var bits: UInt32
  var low: UInt64
  var high: UInt64

  /// Creates a candidate.
  ///
  /// - Parameters:
  ///   - events: The bits of the events that the entry fires on, as in `Subscription.Options`.
  ///   - isMetAgain: Whether one change can meet the entry in several lists.
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

  /// Replaces the number of the point in a ``Check/point`` check. Other checks do not change.
  mutating func renumberPoints(_ renumbering: Renumbering) {
    if check == .point { low = UInt64(renumbering[UInt32(low)]) }
  }

  mutating func renumberEntries(_ renumbering: Renumbering) { entry = renumbering[entry] }

  /// Whether the entry fires on an event.
  ///
  /// - Parameter event: One bit of `Subscription.Options`.
  @inline(__always) func fires(on event: UInt8) -> Bool { bits & UInt32(event) != 0 }
  /// Whether the check is one comparison: the ordered value ``path`` is between ``low`` and
  /// ``high``.
  ///
  /// A candidate without a condition is plain too: it compares value 0, ``OrderedValue/always``,
  /// which is between all bounds. A candidate with ``isMetAgain`` is never plain.
  @inline(__always) var isPlain: Bool { bits & 1 << 3 != 0 }
  // The initializer stored the raw value of a check, so the fallback is never used.
  /// The kind of the condition that is left to check.
  @inline(__always) var check: Check { Check(rawValue: UInt8(bits >> 4 & 7)) ?? .program }
  /// Whether one change can meet the entry in several lists. Matching then removes duplicates.
  @inline(__always) var isMetAgain: Bool { bits & 1 << 7 != 0 }
  /// The index of the value that the check reads.
  ///
  /// - For a range: an index into ``RecordFacts/ordered``.
  /// - For a cap: an index into ``RecordFacts/places``.
  /// - For other checks: 0.
  @inline(__always) var path: Int { Int(bits >> 8) }

  /// The same reference in four bytes; `nil` if a condition is left or a change can meet the entry
  /// in several lists.
  var certain: CertainCandidate? {
    guard check == .nothing, !isMetAgain else { return nil }
    return CertainCandidate(entry: entry, events: UInt8(bits & 7))
  }
}

/// A ``Candidate`` without a condition, in four bytes.
///
/// Its entry fires on every change that meets the candidate, if the entry fires on the event of the
/// change.
struct CertainCandidate: BitwiseCopyable, Sendable {
  /// The filler of unused places. It fires on no event.
  static let none = CertainCandidate(entry: 0, events: 0)

  /// The slot of the entry, above three bits for the events. The slot has 29 bits, so an index of a
  /// record type has fewer than 2^29 entries.
  private var bits: UInt32

  /// Creates a reference.
  ///
  /// - Parameter events: The bits of the events that the entry fires on, as in
  ///   `Subscription.Options`.
  init(entry: UInt32, events: UInt8) {
    bits = entry << 3 | UInt32(events)
  }

  mutating func renumberEntries(_ renumbering: Renumbering) {
    bits = renumbering[entry] << 3 | bits & 7
  }

  /// The slot of the entry in its ``RecordTypeIndex``.
  @inline(__always) var entry: UInt32 { bits >> 3 }
  /// Whether the entry fires on an event, one bit of `Subscription.Options`.
  @inline(__always) func fires(on event: UInt8) -> Bool { bits & UInt32(event) != 0 }
}
