import CloudKitModel

/// The index of the query predicates of one record type.
///
/// Each predicate is an ``Entry``. The index *files* an entry under its most selective term, in one
/// of two places:
///
/// - In the lists of some *points*. A point is a fact that a record can have, such as "`author` is
///   ann". The facts that a value is in a range (a *dyadic interval*), or a place in an area on the earth
///   (a *cell*), are points too.
/// - In a list of bounds, for a predicate such as `price >= 10`.
///
/// The source of a point in a record is a *path*: a field, and one way to read it (``Path``). The
/// reference to an entry in a list is a *candidate* (``Candidate``).
///
/// Matching looks up the points of a record, and checks the entries under these points and the
/// entries whose bound a value reaches. The page `docs/internals/matching.md` has a picture.
struct RecordTypeIndex: Sendable {
  /// A predicate of one or more owners. It is evaluated once for all of them.
  struct Entry: Sendable {
    /// The index, in ``RecordTypeIndex/words``, of the first word of the entry's ``FilterProgram``.
    var program: UInt32 = 0
    var wordCount: UInt32 = 0
    /// The index of the entry's first key in ``RecordTypeIndex/keys``.
    var keys: UInt32 = 0
    /// The number of the entry's keys: one for each point under which the entry is filed.
    var keyCount: UInt32 = 0
    var access = Access.nowhere
    /// The bits of the events on which the entry fires, as in `Subscription.Options`. 0 means that
    /// no record satisfies the predicate.
    var events: UInt8 = 0
  }

  /// The kind of the place where an entry is filed.
  enum Access: Sendable, Hashable {
    /// No place: no record satisfies the predicate, or the entry is not filed yet.
    case nowhere
    /// Points; the entry's keys give their numbers.
    case points
    /// The list of lower or of upper bounds of an ordered path; `path` is the number of the path.
    /// The number has 16 bits, so that an entry stays small: no entry is filed by a bound of the
    /// paths after the first 65,536.
    case bound(path: UInt16, isUpper: Bool)
  }

  /// The two lists of the entries that are filed by one bound on an ordered path, and a sample of
  /// the path's values.
  struct Bounds: Sendable {
    /// The values of the latest learned changes.
    var sample = Sample<OrderedValue>()
    /// The entries with a lower bound. A value satisfies the bounds that are at most its
    /// ``OrderedValue/floor``.
    var lower = BoundList()
    /// The entries with an upper bound, in the order of the complement (`~`) of the bound. A value
    /// therefore satisfies the bounds at the beginning of the list, as in ``lower``.
    var upper = BoundList()
  }

  /// The paths, by number. The number of a path is never freed.
  private(set) var paths: [Path] = []
  private var pathNumbers: [Path: UInt32] = [:]
  private var pointCounts: [UInt32] = []
  /// For each path, the range of the dyadic intervals under which entries were filed; ``Reach/nothing`` if
  /// there are none.
  var reaches: [Reach] = []
  /// The fields that predicates name, with their paths.
  var fields: [FieldPaths] = []
  /// The steps that read the facts from a record, made from ``fields``.
  private(set) var plan = RecordPlan()
  private var isPlanOld = false
  private var fieldNumbers: [FieldKey: Int] = [:]
  private(set) var orderedPaths: [OrderedPath] = []
  private(set) var orderedNumbers: [OrderedPath: Int] = [:]
  /// The filters that are evaluated directly.
  var filters: FilterTable
  /// The number of the path of zones; `nil` if no predicate names a zone.
  private(set) var zone: UInt32?
  /// The number of the path of the point that every record has; `nil` if no entry is filed under
  /// this point.
  private(set) var everything: UInt32?

  /// The points, with the lists of the entries that are filed under them.
  var points: PointTable
  var candidates = Runs<Candidate>(filler: .none)
  var certain = Runs<CertainCandidate>(filler: .none)
  var bounds: [Bounds] = []
  var entries = SlotTable<Entry>()
  /// The owners of each entry, by slot. The lists are apart from the entries, so that matching
  /// reads an entry only to execute its program.
  var owners: [OwnerList] = []
  var words = Runs<UInt64>(filler: 0)
  /// The number of changes that the index has learned from, halved at 4,096.
  var changesLearnt: UInt32 = 0
  /// The slot from which learning searches for the next entry to review (``review(_:)``).
  var nextReviewed: Int32 = 0
  /// The keys of the entries. The upper half of a key is the point; the lower half is the position
  /// in the point's list, with ``certainPlace``.
  var keys = Runs<UInt64>(filler: 0)
  /// The hash table that finds entries by program and events.
  var predicates = HashSlots(isDense: true)
  private let hash: ByteHash

  /// Creates an empty index.
  init(seed: UInt64) {
    points = PointTable(seed: seed)
    filters = FilterTable(seed: seed)
    hash = ByteHash(seed: seed)
  }

  var isEmpty: Bool { entries.count == 0 }

  // MARK: Entries

  /// Returns the slot of the entry of a predicate. If there is none, creates and files a new entry.
  ///
  /// The caller must add an owner to a new entry, and call ``remove(_:)`` when the entry has no
  /// owners.
  ///
  /// - Parameters:
  ///   - filters: The filters, all of which must match.
  ///   - zoneID: The zone of the record; `nil` for every zone.
  ///   - events: The bits of the events to fire on; 0 gives an entry that never fires.
  /// - Complexity: O(*n* log *n* + *m*²) on average, amortized, where *n* is the size of the
  ///   filters in bytes and *m* their number. A call that adds a path or a new prefix length, or
  ///   that has a distance filter, also makes the plan anew; see ``renewPlan()``.
  mutating func entry(_ filters: [Filter], zoneID: ZoneID?, events: UInt8) -> Int32 {
    var terms: [Term] = zoneID.map { [Term($0)] } ?? []
    terms += filters.map { Term($0) }
    defer { renewPlan() }
    guard let terms = Term.joined(terms), events != 0 else {
      // No record satisfies the predicate. All predicates of this kind share one entry.
      return entry(program: Self.never, events: 0) { _, _ in }
    }
    return entry(program: withoutRepetition(terms.map { encode($0) }), events: events) {
      $0.file($1)
    }
  }

  /// The program of a predicate that no record satisfies. No head word has this value.
  private static let never = [UInt64.max]

  /// Joins the encoded terms in lexicographic order, each once. Releases the points and filters of
  /// the duplicates.
  private mutating func withoutRepetition(_ terms: [[UInt64]]) -> [UInt64] {
    var program: [UInt64] = []
    var last: [UInt64]?
    for term in terms.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      if term == last {
        release(term[...])
      } else {
        program += term
      }
      last = term
    }
    return program
  }

  /// Returns the slot of the entry with a program and events.
  ///
  /// - Parameter file: Files a new entry; does nothing for a predicate that no record satisfies.
  private mutating func entry(
    program: [UInt64], events: UInt8, file: (inout RecordTypeIndex, Int32) -> Void
  ) -> Int32 {
    let hash = hash(program, events)
    let known = predicates.find(hash: hash) {
      let entry = entries[Int32($0)]
      return entry.events == events && self.program(of: entry).elementsEqual(program)
    }
    if let known {
      // The encoding of the new program counted a second use of each point and filter.
      release(program[...])
      return Int32(known)
    }
    var entry = Entry()
    entry.wordCount = UInt32(program.count)
    entry.program = words.allocate(program.count)
    for (place, word) in program.enumerated() { words[entry.program + UInt32(place)] = word }
    entry.events = events
    let slot = entries.insert(entry)
    if slot == owners.count { owners.append(.empty) } else { owners[Int(slot)] = .empty }
    file(&self, slot)
    predicates.insert(UInt32(slot), hash: hash)
    return slot
  }

  /// Removes an entry that has no owners.
  ///
  /// - Complexity: O(*n*), amortized, where *n* is the number of points that the program names or
  ///   under which the entry is filed. If the entry is the last on a path, or has a distance
  ///   filter, the cost of ``renewPlan()`` is added.
  mutating func remove(_ slot: Int32) {
    let entry = entries[slot]
    let program = program(of: entry)
    predicates.remove(UInt32(slot), hash: hash(of: UInt32(slot)))
    unfile(slot, entry)
    release(program)
    words.free(entry.program, count: Int(entry.wordCount))
    entries.remove(slot)
    renewPlan()
    moveRuns()
  }

  /// Makes ``plan`` anew if paths, prefix lengths or distance filters have changed since it was
  /// made.
  ///
  /// - Complexity: O(*n* log *n*) for the *n* paths of the type if the plan is made anew; otherwise
  ///   O(1).
  mutating func renewPlan() {
    guard isPlanOld else { return }
    plan = RecordPlan(fields)
    isPlanOld = false
  }

  func hash(of slot: UInt32) -> UInt64 {
    let entry = entries[Int32(slot)]
    return hash(program(of: entry), entry.events)
  }

  private func hash(_ program: some Collection<UInt64>, _ events: UInt8) -> UInt64 {
    let hashed = program.withContiguousStorageIfAvailable {
      hash.hash(UnsafeRawBufferPointer($0), number: UInt64(events))
    }
    // Arrays and their slices are contiguous, so the fallback is never used.
    return hashed ?? 0
  }

  func program(of entry: Entry) -> ArraySlice<UInt64> {
    words.elements[Int(entry.program)..<Int(entry.program) + Int(entry.wordCount)]
  }

  // MARK: Programs

  /// Returns the words of a term and counts one use of each of its points and filters.
  private mutating func encode(_ term: Term) -> [UInt64] {
    switch term {
    case .any(let path, let points, let isNegated):
      return encode(isNegated ? .none : .any, path, points)
    case .all(let path, let points, let isNegated):
      return encode(isNegated ? .notAll : .all, path, points)
    case .range(let path, let low, let high):
      return [FilterProgram.head(.range, number: number(of: path), count: 2), low, high]
    case .near(let field, let center, let distance):
      let number = number(of: field)
      fields[number].circles += 1
      isPlanOld = true
      return [FilterProgram.head(.near, number: number, count: 3)]
        + [center.latitude, center.longitude, distance].map(\.bitPattern)
    case .filter(let filter, _):
      return [FilterProgram.head(.filter, count: 1), UInt64(filters.use(filter))]
    case .always, .never:
      // `Term.joined(_:)` has removed these terms.
      return []
    }
  }

  /// Returns the words of a term of points. The points are sorted, so that equal terms have equal
  /// words.
  private mutating func encode(
    _ operation: FilterProgram.Operation, _ path: Path, _ points: [PointValue]
  ) -> [UInt64] {
    let number = number(of: path)
    let used = points.map { UInt64(use($0, path, number)) }.sorted()
    return [FilterProgram.head(operation, number: Int(number), count: used.count)] + used
  }

  private mutating func release(_ program: ArraySlice<UInt64>) {
    guard program != Self.never[...] else { return }
    for term in FilterProgram.terms(of: program) {
      for point in term.points { release(point) }
      switch term.operation {
      case .filter:
        for filter in term.arguments { filters.release(Int32(filter)) }
      case .near:
        fields[term.number].circles -= 1
        isPlanOld = true
      case .any, .none, .all, .notAll, .range:
        break
      }
    }
  }

  // MARK: Points and paths

  /// Returns the number of the point of a value on a path, and counts one more use.
  ///
  /// The caller must call ``release(_:)`` once for each use.
  ///
  /// - Parameter number: The number of the path.
  mutating func use(_ value: PointValue, _ path: Path, _ number: UInt32) -> UInt32 {
    let point = value.bytes.withUnsafeBytes {
      points.use($0, path: number << PointValue.Kind.width | value.kind.rawValue)
    }
    guard points[ledgerOf: point].users == 1 else { return point }
    points[ledgerOf: point].learntBefore = changesLearnt
    pointCounts[Int(number)] += 1
    let isFirst = pointCounts[Int(number)] == 1
    switch path.shape {
    case .zone: zone = number
    case .everything: everything = number
    default:
      let field = self.number(of: path.field)
      if isFirst { fields[field].add(path, number: number) }
      let isOtherLength = fields[field].count(
        length: value.bytes.count, of: path, number: number, isNew: true)
      if isFirst || isOtherLength { isPlanOld = true }
    }
    return point
  }

  /// Subtracts one use of a point. The last call removes the point. When a path has no points left,
  /// matching no longer reads records for this path.
  mutating func release(_ point: UInt32) {
    let number = points[point].path >> PointValue.Kind.width
    let length = Int(points[point].count)
    guard points.release(point) else { return }
    let path = paths[Int(number)]
    pointCounts[Int(number)] -= 1
    let isGone = pointCounts[Int(number)] == 0
    if isGone { reaches[Int(number)] = .nothing }
    switch path.shape {
    case .zone: if isGone { zone = nil }
    case .everything: if isGone { everything = nil }
    default:
      let field = self.number(of: path.field)
      let isOtherLength = fields[field].count(
        length: length, of: path, number: number, isNew: false)
      if isGone { fields[field].remove(path, number: number) }
      if isGone || isOtherLength { isPlanOld = true }
    }
  }

  func path(of point: UInt32) -> Path {
    paths[Int(points[point].path >> PointValue.Kind.width)]
  }

  /// Returns the number of a path. A new path gets the next number.
  mutating func number(of path: Path) -> UInt32 {
    if let known = pathNumbers[path] { return known }
    let number = UInt32(paths.count)
    paths.append(path)
    pointCounts.append(0)
    reaches.append(.nothing)
    pathNumbers[path] = number
    return number
  }

  /// Returns the number of a field. A new field gets the next number.
  private mutating func number(of field: FieldKey) -> Int {
    if let known = fieldNumbers[field] { return known }
    fieldNumbers[field] = fields.count
    fields.append(FieldPaths(field))
    return fields.count - 1
  }

  /// Returns the number of an ordered path. A new ordered path gets the next number and empty lists
  /// of bounds.
  private mutating func number(of path: OrderedPath) -> Int {
    if let known = orderedNumbers[path] { return known }
    let number = orderedPaths.count
    orderedNumbers[path] = number
    orderedPaths.append(path)
    bounds.append(Bounds())
    fields[self.number(of: path.field)].ordered.append(.init(kind: path.kind, number: number))
    isPlanOld = true
    return number
  }
}
