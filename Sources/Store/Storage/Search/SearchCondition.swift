/// A condition that each match meets: it is on a path (``AccessPath``), or, if ``excludes`` is
/// true, it is not.
///
/// The search checks a record number without reading the record, in one of two ways:
///
/// - *Gathering* reads the entries of the path in parts into a set of record numbers. A complete
///   set decides about any number; before, it serves to estimate the records on the path.
/// - *Asking* looks up one number: in the index, for a path of one or two keys, or in the cached
///   column (``KeyColumn``) of the path's field.
struct SearchCondition {
  /// If ``isComplete``, they decide whether a record meets the condition.
  private(set) var numbers = RecordNumberSet()
  let excludes: Bool
  private let path: AccessPath
  /// The path without the ranges of cached lists (``PostingList``).
  let unlistedPath: AccessPath
  /// Reads ``unlistedPath``, up to the gathered part.
  private var reader: EntryReader
  /// One for each key of ``unlistedPath``, to ask the index; empty for more than two keys, or a
  /// range of several.
  private var windows: [NumberWindow]
  private let column: ColumnCondition?
  /// Record numbers from cached lists, which ``numbers`` contains too.
  private let listed: RecordNumberSet
  private(set) var gathered = 0
  /// The entries that count: those inside the path's circle, those of the searched type on the
  /// path of a zone, otherwise all.
  private var met = 0
  private var total = 0.0
  /// The ends of each range of ``unlistedPath``; empty before they are needed.
  private var spans: [EntrySpan?] = []
  private var questions = 0.0

  /// Reads nothing. `lists` has the cached lists by the indexes of their ranges.
  init(
    _ path: AccessPath, excludes: Bool = false, column: KeyColumn? = nil,
    lists: [Int: RecordNumberSet] = [:]
  ) {
    self.path = path
    self.column = column.map { ColumnCondition(path, $0) }
    self.excludes = excludes
    var listed = RecordNumberSet()
    for list in lists.values { listed.formUnion(list) }
    self.listed = listed
    numbers = listed
    var unlistedPath = path
    if !lists.isEmpty {
      unlistedPath.source = .keyRanges(
        path.keyRanges.enumerated().filter { lists[$0.offset] == nil }.map(\.element))
    }
    self.unlistedPath = unlistedPath
    reader = EntryReader(unlistedPath)
    let keyRanges = unlistedPath.keyRanges.prefix(Self.askable + 1)
    let windows = keyRanges.compactMap { NumberWindow($0) }
    self.windows =
      keyRanges.count <= Self.askable && windows.count == keyRanges.count ? windows : []
  }

  private static let askable = 2
  /// On a path with more ranges, each counts the same.
  private static let fineRanges = 8

  var isComplete: Bool { reader.isAtEnd }
  var isAskable: Bool { !isComplete && (column != nil || !windows.isEmpty) }

  func isOf(_ keyRange: FieldKeyRange) -> Bool {
    let keyRanges = path.keyRanges
    return !excludes && keyRanges.count == 1 && keyRanges[0].field == keyRange.field
      && keyRanges[0].range == keyRange.range
  }

  func rulesOut(_ keyRange: FieldKeyRange) -> Bool {
    excludes
      && path.keyRanges.contains {
        $0.field == keyRange.field && $0.range.contains(keyRange.range.lower)
          && $0.range.contains(keyRange.range.upper)
      }
  }

  // MARK: Gathering

  /// From the second call on, the cached column is scanned instead, if that costs less than
  /// reading the rest of the path. The condition is then complete.
  mutating func gather(
    _ limit: Int, in search: RecordSearch, where isWanted: (Int64) -> Bool
  ) throws {
    if gathered > 0, let column, scanCost < unread {
      return gatherAll(from: column, where: isWanted)
    }
    var met = 0
    gathered += try reader.visit(limit, in: search) { number in
      met += 1
      if isWanted(number) { numbers.insert(number) }
    }
    self.met += met
    if !isComplete { total = try estimate(in: search) }
  }

  private mutating func gatherAll(
    from column: ColumnCondition, where isWanted: (Int64) -> Bool
  ) {
    var met = 0
    var numbers = RecordNumberSet()
    column.visitAll { number in
      met += 1
      if isWanted(number) { numbers.insert(number) }
    }
    self.met = met
    self.numbers = numbers
    reader.finish()
  }

  /// The entries of ``unlistedPath``, from the reader's position, or four times the gathered ones
  /// if the position allows no estimate.
  private mutating func estimate(in search: RecordSearch) throws -> Double {
    let unknown = Double(4 * gathered)
    let count = reader.path.keyRanges.count
    // The path of a zone has no ranges.
    guard count > 0, let position = reader.position else { return unknown }
    guard count <= Self.fineRanges else {
      let done = (Double(position.keyRange) + 0.5) / Double(count)
      return max(Double(gathered), Double(gathered) / done)
    }
    if spans.isEmpty {
      spans = try (0..<count).map { try reader.span(ofKeyRange: $0, in: search) }
      if !windows.isEmpty {
        windows = windows.indices.filter { spans[$0] != nil }.map { windows[$0] }
      }
    }
    guard let share = spans[position.keyRange]?.share(before: position) else { return unknown }
    let before = spans[..<position.keyRange].count { $0 != nil }
    return Double(gathered) * Double(spans.count { $0 != nil }) / (Double(before) + share)
  }

  var remaining: Double { min(unread, scanCost) }

  private var unread: Double {
    guard !isComplete else { return 0 }
    let entries = max(1, total - Double(gathered))
    // For a circle, a distance is computed for each entry, and many ranges are sought in the index.
    guard unlistedPath.circle != nil else { return entries }
    return entries * 1.5 + Double(unlistedPath.keyRanges.count * NumberWindow.seekCost)
  }

  /// The cost in index entries; infinite without a column.
  private var scanCost: Double { column?.cost(ofVisiting: members) ?? .infinity }

  var members: Double {
    let listed = Double(listed.count)
    if isComplete { return listed + Double(met) }
    return gathered == 0 ? .infinity : listed + total * Double(met) / Double(max(1, gathered))
  }

  // MARK: Asking

  /// Requires ``isAskable``. The cost is in index entries.
  mutating func ask(
    _ number: Int64, in search: RecordSearch
  ) throws -> (isMet: Bool, cost: Int) {
    if let column {
      return (column.isMet(by: number) != excludes, 0)
    }
    let before = windowCost
    var holds = listed.contains(number)
    for index in windows.indices where !holds {
      holds = try windows[index].contains(number, in: search)
    }
    questions += 1
    return (holds != excludes, 1 + windowCost - before)
  }

  private var windowCost: Int { windows.reduce(0) { $0 + $1.cost } }

  var spent: Double { Double(gathered + windowCost) }

  // MARK: Planning

  func forPlan(among population: Double) -> SearchPlan.Condition {
    let members = min(members, population)
    let share = (excludes ? population - members : members) / max(1, population)
    return SearchPlan.Condition(
      share: min(1, share), remaining: remaining, question: isAskable ? questionCost : nil,
      candidates: excludes ? nil : members)
  }

  /// In index entries, for one record: the mean of the past questions and of four assumed ones,
  /// each with a seek for each key.
  private var questionCost: Double {
    guard column == nil else { return ColumnCondition.cost }
    return Double(4 * NumberWindow.seekCost * windows.count + windowCost) / (4 + questions)
  }
}

/// A test whether records are on a path (``AccessPath``) through the values of one field, by its
/// cached column (``KeyColumn``).
struct ColumnCondition {
  /// The cost of one test, in index entries.
  static let cost = 0.5
  /// In index entries for each record number that the column has memory for.
  private static let scanCost = 0.012
  /// In addition for each found record.
  private static let findCost = 0.1

  private let column: KeyColumn
  private let ranges: KeyRangeDirectory
  private let circle: AccessPath.Circle?

  init(_ path: AccessPath, _ column: KeyColumn) {
    self.column = column
    ranges = KeyRangeDirectory(path.keyRanges.compactMap(\.range.numbers))
    circle = path.circle
  }

  func isMet(by number: Int64) -> Bool {
    guard let key = column[number], ranges.contains(key) else { return false }
    // The ranges for a circle also contain places outside of the circle.
    return circle?.mayHold(key) ?? true
  }

  /// In ascending order. Records outside of a circle whose keys are in the ranges are visited,
  /// too.
  func visitAll(_ visit: (Int64) -> Void) {
    guard let envelope = ranges.envelope else { return }
    column.visitKeys(in: envelope) { number, key in
      if ranges.contains(key) { visit(number) }
    }
  }

  func cost(ofVisiting members: Double) -> Double {
    Double(column.capacity) * Self.scanCost + members * Self.findCost
  }
}
