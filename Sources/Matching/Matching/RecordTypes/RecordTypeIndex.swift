import CloudKitModel

/// The query predicates of one record type, each filed under its most selective term.
struct RecordTypeIndex: Sendable {
  /// A predicate that one or more owners saved, evaluated once for all of them.
  struct Entry: Sendable {
    /// Where its program begins and how many words that has.
    var program: UInt32 = 0
    var wordCount: UInt32 = 0
    /// Where its keys begin and how many there are.
    var keys: UInt32 = 0
    var keyCount: UInt32 = 0
    var access = Access.nowhere
    var events: UInt8 = 0
  }

  /// Where an entry is filed.
  enum Access: Sendable, Hashable {
    /// No record passes it.
    case nowhere
    /// Under points; the entry's keys say which.
    case points
    /// In an ordered path's list of lower or of upper bounds.
    case bound(path: UInt16, isUpper: Bool)
  }

  /// The two lists of predicates with one bound only, and what values there are.
  struct Bounds: Sendable {
    var sample = Sample<OrderedValue>()
    /// By their bounds: a value passes those that are at most itself.
    var lower = BoundList()
    /// By the bounds' complements, for the same reason.
    var upper = BoundList()
  }

  // What is asked of records.
  private(set) var paths: [Path] = []
  private var pathNumbers: [Path: UInt32] = [:]
  /// How many points each path has.
  private var pointCounts: [UInt32] = []
  /// How far the stretches of each path reach, if it is one of stretches.
  var reaches: [Reach] = []
  var fields: [FieldPaths] = []
  /// The same in the form in which records are looked at.
  private(set) var plan = RecordPlan()
  private var isPlanOld = false
  private var fieldNumbers: [FieldKey: Int] = [:]
  private(set) var orderedPaths: [OrderedPath] = []
  private(set) var orderedNumbers: [OrderedPath: Int] = [:]
  var filters: FilterTable
  /// The path of zones, and that which every record has; nil when there are no points of them.
  private(set) var zone: UInt32?
  private(set) var everything: UInt32?

  // Where entries are filed.
  var points: PointTable
  var candidates = Runs<Candidate>(filler: .none)
  /// Candidates of which nothing is asked.
  var certain = Runs<CertainCandidate>(filler: .none)
  var bounds: [Bounds] = []

  // The entries.
  var entries = SlotTable<Entry>()
  /// By entry. Apart from the entries, for it is what every match asks for.
  var owners: [OwnerList] = []
  var words = Runs<UInt64>(filler: 0)
  /// How many changes the index has learnt from, lately.
  var changesLearnt: UInt32 = 0
  /// The entry whose place is looked at next.
  var nextReviewed: Int32 = 0
  /// A point and the place in its list, in the upper and the lower half.
  var keys = Runs<UInt64>(filler: 0)
  var predicates = HashSlots(isDense: true)
  private let hash: ByteHash

  init(seed: UInt64) {
    points = PointTable(seed: seed)
    filters = FilterTable(seed: seed)
    hash = ByteHash(seed: seed)
  }

  var isEmpty: Bool { entries.count == 0 }

  // MARK: Entries

  /// The entry of a predicate, made if there is none.
  mutating func entry(_ filters: [Filter], zoneID: ZoneID?, events: UInt8) -> Int32 {
    var terms: [Term] = zoneID.map { [Term($0)] } ?? []
    terms += filters.map { Term($0) }
    defer { renewPlan() }
    guard let terms = Term.joined(terms), events != 0 else {
      // No record passes it. All such predicates are one.
      return entry(program: Self.never, events: 0) { _, _ in }
    }
    return entry(program: withoutRepetition(terms.map { encode($0) }), events: events) {
      $0.file($1)
    }
  }

  /// The program of what no record passes; others begin with a head.
  private static let never = [UInt64.max]

  /// The terms in an order of their own, each once.
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

  private mutating func entry(
    program: [UInt64], events: UInt8, file: (inout RecordTypeIndex, Int32) -> Void
  ) -> Int32 {
    let hash = hash(program, events)
    let known = predicates.find(hash: hash) {
      let entry = entries[Int32($0)]
      return entry.events == events && self.program(of: entry).elementsEqual(program)
    }
    if let known {
      // Its points and filters were asked for once more.
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
    // Arrays and their slices lie in one piece.
    return hashed ?? 0
  }

  func program(of entry: Entry) -> ArraySlice<UInt64> {
    words.elements[Int(entry.program)..<Int(entry.program) + Int(entry.wordCount)]
  }

  // MARK: Programs

  private mutating func encode(_ term: Term) -> [UInt64] {
    switch term {
    case .any(let path, let points, let isNegated):
      return encode(isNegated ? .none : .any, path, points)
    case .all(let path, let points, let isNegated):
      return encode(isNegated ? .notAll : .all, path, points)
    case .range(let path, let low, let high):
      return [Program.head(.range, number: number(of: path), count: 2), low, high]
    case .near(let field, let center, let distance):
      let number = number(of: field)
      fields[number].circles += 1
      isPlanOld = true
      return [Program.head(.near, number: number, count: 3)]
        + [center.latitude, center.longitude, distance].map(\.bitPattern)
    case .filter(let filter, _):
      return [Program.head(.filter, count: 1), UInt64(filters.use(filter))]
    case .always, .never:
      // Left out when terms are joined.
      return []
    }
  }

  private mutating func encode(
    _ operation: Program.Operation, _ path: Path, _ points: [PointValue]
  ) -> [UInt64] {
    let number = number(of: path)
    let used = points.map { UInt64(use($0, path, number)) }.sorted()
    return [Program.head(operation, number: Int(number), count: used.count)] + used
  }

  /// Gives back the points and filters of a program.
  private mutating func release(_ program: ArraySlice<UInt64>) {
    guard program != Self.never[...] else { return }
    for term in Program.terms(of: program) {
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

  mutating func number(of path: Path) -> UInt32 {
    if let known = pathNumbers[path] { return known }
    let number = UInt32(paths.count)
    paths.append(path)
    pointCounts.append(0)
    reaches.append(.nothing)
    pathNumbers[path] = number
    return number
  }

  private mutating func number(of field: FieldKey) -> Int {
    if let known = fieldNumbers[field] { return known }
    fieldNumbers[field] = fields.count
    fields.append(FieldPaths(field))
    return fields.count - 1
  }

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
