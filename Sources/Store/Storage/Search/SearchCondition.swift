import CloudKitModel

/// A path through the index as a condition: records on the path meet it.
///
/// Membership is certain once all numbers on the path are gathered. Before that, the index can be
/// asked about single records if the path has one value or two, and a cached column can be asked in
/// any case. The number of members is estimated from the gathered part.
struct SearchCondition {
  /// The gathered numbers of records on the path; all of them when ``isComplete``.
  private(set) var numbers = RecordNumberSet()
  /// Whether records on the path cannot match, instead of the others.
  let excludes: Bool
  /// The path of the condition.
  private let path: AccessPath
  /// The path without the ranges that have cached lists.
  let unlistedPath: AccessPath
  /// The reader of the rest of ``unlistedPath``.
  private var reader: EntryReader
  /// The windows on the path's keys, one for each; empty if there are many.
  private var windows: [NumberWindow]
  /// The test by the cached column of the path's field; nil if there is none.
  private let column: ColumnCondition?
  /// The numbers in ``numbers`` that came from cached lists.
  private let listed: RecordNumberSet
  /// The number of gathered entries.
  private(set) var gathered = 0
  /// The number of gathered entries, without those outside of the path's circle.
  private var met = 0
  /// The estimated number of entries on the whole path.
  private var total = 0.0
  /// The spans of the path's ranges, nil for ranges without entries; empty before they are needed.
  private var spans: [EntrySpan?] = []
  /// The number of records asked about.
  private var questions = 0.0

  /// Creates the condition of a path. It reads nothing yet.
  ///
  /// - Parameters:
  ///   - path: the path.
  ///   - excludes: whether records on the path cannot match.
  ///   - column: the keys of the path's field, if cached.
  ///   - lists: the records of some of the path's ranges, if cached, by the indices of the ranges.
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

  /// The most keys of a path that can be asked.
  private static let askable = 2
  /// The most ranges that are estimated by their spans; on paths with more, all ranges count the
  /// same.
  private static let fineStretches = 8

  /// Whether ``numbers`` has all records on the path.
  var isComplete: Bool { reader.isAtEnd }
  /// Whether single records can be asked about.
  var isAskable: Bool { !isComplete && (column != nil || !windows.isEmpty) }

  /// Returns whether this is the condition of exactly this value.
  func isOf(_ stretch: IndexStretch) -> Bool {
    let stretches = path.stretches
    return !excludes && stretches.count == 1 && stretches[0].field == stretch.field
      && stretches[0].range == stretch.range
  }

  /// Returns whether the condition excludes all records with this value.
  func rulesOut(_ stretch: IndexStretch) -> Bool {
    excludes
      && path.stretches.contains {
        $0.field == stretch.field && $0.range.contains(stretch.range.lower)
          && $0.range.contains(stretch.range.upper)
      }
  }

  // MARK: Gathering

  /// Reads more of the path, and keeps the wanted numbers. If scanning a cached column costs less
  /// than the rest, it reads the column instead, and is then complete.
  ///
  /// - Parameters:
  ///   - limit: the most entries to read.
  ///   - isWanted: decides by a record number.
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

  /// Takes all numbers from the cached column.
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

  /// Returns the estimated number of entries on the path, from how far the reader has come. Without
  /// better knowledge it is four times the gathered ones.
  private mutating func estimate(in search: RecordSearch) throws -> Double {
    let unknown = Double(4 * gathered)
    let count = reader.path.stretches.count
    // A zone's records have no ranges.
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

  /// The entries still to be gathered, or an equal cost.
  var remaining: Double { min(unread, scanCost) }

  /// The entries still to be read, or an equal cost.
  private var unread: Double {
    guard !isComplete else { return 0 }
    let entries = max(1, total - Double(gathered))
    // Entries of a circle need a distance each, and seeks to many ranges.
    guard unlistedPath.circle != nil else { return entries }
    return entries * 1.5 + Double(unlistedPath.stretches.count * NumberWindow.seekCost)
  }

  /// The cost of finding the records in the column instead.
  private var scanCost: Double { column?.cost(ofVisiting: members) ?? .infinity }

  /// The estimated number of records on the path.
  var members: Double {
    let listed = Double(listed.count)
    if isComplete { return listed + Double(met) }
    return gathered == 0 ? .infinity : listed + total * Double(met) / Double(max(1, gathered))
  }

  // MARK: Asking

  /// Returns whether a record meets the condition, and the cost of the answer in entries.
  ///
  /// The condition must be askable, and need not be complete.
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

  /// The cost so far of asking the index, in entries.
  private var windowCost: Int { windows.reduce(0) { $0 + $1.cost } }

  /// The cost so far of gathering and asking, in entries.
  var spent: Double { Double(gathered + windowCost) }

  // MARK: Planning

  /// Returns the plan's view of the condition, among `population` records.
  func forPlan(among population: Double) -> SearchPlan.Condition {
    let members = min(members, population)
    let share = (excludes ? population - members : members) / max(1, population)
    return SearchPlan.Condition(
      share: min(1, share), remaining: remaining, question: isAskable ? questionCost : nil,
      candidates: excludes ? nil : members)
  }

  /// The expected cost of a question in entries. It is the mean of the past questions and of four
  /// assumed ones with a seek for each key.
  private var questionCost: Double {
    guard column == nil else { return ColumnCondition.cost }
    return Double(4 * NumberWindow.seekCost * windows.count + windowCost) / (4 + questions)
  }
}
