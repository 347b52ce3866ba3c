import CloudKitModel

/// A condition that each match meets: it is on a certain path (``AccessPath``). If ``excludes`` is
/// true, the condition is the opposite: a match is not on the path.
///
/// The search checks the condition for a record number without reading the record. There are two
/// ways:
///
/// - *Gathering* reads the entries of the path in parts, and collects the record numbers in a set.
///   Once the set is complete, it decides about any number. Before, it serves to estimate the
///   number of records on the path.
/// - *Asking* looks up one record number. A path of one or two keys can be asked in the index. A
///   path whose field has a cached column (``KeyColumn``) can be asked in the column.
struct SearchCondition {
  /// The gathered record numbers. If ``isComplete`` is true, they decide whether a record meets the
  /// condition.
  private(set) var numbers = RecordNumberSet()
  /// True if the records on the path cannot match; false if only they can.
  let excludes: Bool
  /// The path of the condition.
  private let path: AccessPath
  /// The path without those ranges whose records came from cached lists (``PostingList``).
  let unlistedPath: AccessPath
  /// The reader of ``unlistedPath``, which has read the gathered part.
  private var reader: EntryReader
  /// The readers with which the index is asked, one for each key of ``unlistedPath``. The array is
  /// empty if the path has more than two keys, or a range of several keys.
  private var windows: [NumberWindow]
  /// The test by the cached column of the path's field; nil if the field has no cached column.
  private let column: ColumnCondition?
  /// The record numbers that came from cached lists; ``numbers`` contains them too.
  private let listed: RecordNumberSet
  /// The number of index entries that gathering has read.
  private(set) var gathered = 0
  /// The number of these entries that count. On a path with a circle, entries inside the circle
  /// count; on the path of a zone, records of the searched type; on other paths, all entries.
  private var met = 0
  /// The estimated number of entries of ``unlistedPath``.
  private var total = 0.0
  /// The first and last entry of each range of ``unlistedPath``, nil for a range without entries.
  /// The array is empty before it is needed.
  private var spans: [EntrySpan?] = []
  /// The number of records that were asked in the index.
  private var questions = 0.0

  /// Creates the condition of a path, without reading anything.
  ///
  /// - Parameters:
  ///   - path: the path.
  ///   - excludes: true if the records on the path cannot match; false if only they can.
  ///   - column: the cached column of the path's field; nil if there is none.
  ///   - lists: the cached lists of some ranges of the path, by the index of the range.
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
      unlistedPath.source = .stretches(
        path.stretches.enumerated().filter { lists[$0.offset] == nil }.map(\.element))
    }
    self.unlistedPath = unlistedPath
    reader = EntryReader(unlistedPath)
    let stretches = unlistedPath.stretches.prefix(Self.askable + 1)
    let windows = stretches.compactMap { NumberWindow($0) }
    self.windows =
      stretches.count <= Self.askable && windows.count == stretches.count ? windows : []
  }

  /// The most keys of a path that is asked in the index.
  private static let askable = 2
  /// The most ranges of a path whose first and last entries are used for an estimate. On a path
  /// with more ranges, each range counts the same.
  private static let fineStretches = 8

  /// Whether the whole path is gathered.
  var isComplete: Bool { reader.isAtEnd }
  /// Whether the condition can be asked about single records, and is not complete.
  var isAskable: Bool { !isComplete && (column != nil || !windows.isEmpty) }

  /// Returns whether exactly the records with one value meet the condition.
  ///
  /// - Parameter stretch: the range with the key of the value.
  func isOf(_ stretch: IndexStretch) -> Bool {
    let stretches = path.stretches
    return !excludes && stretches.count == 1 && stretches[0].field == stretch.field
      && stretches[0].range == stretch.range
  }

  /// Returns whether the condition excludes all records with a value.
  ///
  /// - Parameter stretch: the range with the key of the value.
  func rulesOut(_ stretch: IndexStretch) -> Bool {
    excludes
      && path.stretches.contains {
        $0.field == stretch.field && $0.range.contains(stretch.range.lower)
          && $0.range.contains(stretch.range.upper)
      }
  }

  // MARK: Gathering

  /// Gathers more of the path, and adds the wanted numbers to the set.
  ///
  /// From the second call on, the method scans the cached column instead, if that costs less than
  /// reading the rest of the path. The condition is then complete.
  ///
  /// - Parameters:
  ///   - limit: the most entries to read.
  ///   - isWanted: returns whether a record number is added to the set.
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

  /// Gathers the whole path by a scan of the cached column.
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

  /// Returns the estimated number of entries of ``unlistedPath``, from the position that the reader
  /// has reached. If the position allows no estimate, the result is four times the gathered
  /// entries.
  private mutating func estimate(in search: RecordSearch) throws -> Double {
    let unknown = Double(4 * gathered)
    let count = reader.path.stretches.count
    // The path of a zone has no ranges.
    guard count > 0, let position = reader.position else { return unknown }
    guard count <= Self.fineStretches else {
      let done = (Double(position.stretch) + 0.5) / Double(count)
      return max(Double(gathered), Double(gathered) / done)
    }
    if spans.isEmpty {
      spans = try (0..<count).map { try reader.span(ofStretch: $0, in: search) }
      if !windows.isEmpty {
        windows = windows.indices.filter { spans[$0] != nil }.map { windows[$0] }
      }
    }
    guard let share = spans[position.stretch]?.share(before: position) else { return unknown }
    let before = spans[..<position.stretch].count { $0 != nil }
    return Double(gathered) * Double(spans.count { $0 != nil }) / (Double(before) + share)
  }

  /// The cost of gathering the rest of the path in the cheapest way, in index entries.
  var remaining: Double { min(unread, scanCost) }

  /// The cost of reading the rest of the path from the index, in index entries.
  private var unread: Double {
    guard !isComplete else { return 0 }
    let entries = max(1, total - Double(gathered))
    // For a circle, a distance is computed for each entry, and many ranges are sought in the index.
    guard unlistedPath.circle != nil else { return entries }
    return entries * 1.5 + Double(unlistedPath.stretches.count * NumberWindow.seekCost)
  }

  /// The cost of scanning the cached column, in index entries; infinite without a column.
  private var scanCost: Double { column?.cost(ofVisiting: members) ?? .infinity }

  /// The estimated number of records on the path; infinite before anything is gathered.
  var members: Double {
    let listed = Double(listed.count)
    if isComplete { return listed + Double(met) }
    return gathered == 0 ? .infinity : listed + total * Double(met) / Double(max(1, gathered))
  }

  // MARK: Asking

  /// Returns whether a record meets the condition, and the cost of the answer in index entries.
  ///
  /// Call the method only if ``isAskable``.
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

  /// The cost of asking the index so far, in index entries.
  private var windowCost: Int { windows.reduce(0) { $0 + $1.cost } }

  /// The cost of gathering and asking so far, in index entries.
  var spent: Double { Double(gathered + windowCost) }

  // MARK: Planning

  /// Returns the estimates of the condition for ``SearchPlan``.
  ///
  /// - Parameter population: the approximate number of records in the database.
  func forPlan(among population: Double) -> SearchPlan.Condition {
    let members = min(members, population)
    let share = (excludes ? population - members : members) / max(1, population)
    return SearchPlan.Condition(
      share: min(1, share), remaining: remaining, question: isAskable ? questionCost : nil,
      candidates: excludes ? nil : members)
  }

  /// The expected cost of asking about one record, in index entries: the mean of the past questions
  /// and of four assumed questions, each with a seek for each key.
  private var questionCost: Double {
    guard column == nil else { return ColumnCondition.cost }
    return Double(4 * NumberWindow.seekCost * windows.count + windowCost) / (4 + questions)
  }
}
