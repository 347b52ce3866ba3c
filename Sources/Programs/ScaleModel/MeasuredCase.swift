/// One measurement of servers on one machine with their PostgreSQL and their load, as
/// `petrel-bench cluster` makes it.
public struct MeasuredCase: Sendable {
  public var servers = 1
  /// To all servers together.
  public var connections = 16
  /// Whether saves came evenly, and not as fast as they were answered.
  public var isPaced = false
  public var hasSubscriptions = true
  public var savesPerSecond = 0.0
  public var statementsPerSave = 0.0
  /// Transactions of the servers' writers.
  public var commitsPerSave = 0.0
  public var logBytesPerSave = 0.0
  /// Processor seconds for each save.
  public var serverSeconds = 0.0
  public var postgreSQLSeconds = 0.0
  public var loadSeconds = 0.0
  /// Seconds of a transaction, and of a flush of the log, in the mean.
  public var commitSeconds = 0.0
  public var flushSeconds = 0.0
  /// The median until a save is answered, in seconds.
  public var saveMedian = Double.nan
  /// The mean from a save to the log, in seconds; NaN without subscriptions.
  public var loggedMean = Double.nan

  public init() {}
}

extension ScaleCosts {
  /// The cases that ``init(calibratedOn:)`` uses: of the fewest servers as fast as they can without and
  /// with subscriptions, and evenly without; and for the time until another server hears of a change,
  /// evenly of the fewest servers and of the next greater number.
  public static func calibrating(_ cases: [MeasuredCase]) -> [Int] {
    let counts = Set(cases.map(\.servers)).sorted()
    return cases.indices.filter { place in
      let one = cases[place]
      guard one.servers == counts[0] else {
        return one.servers == counts[1] && one.isPaced && one.hasSubscriptions
      }
      return !(one.isPaced && one.hasSubscriptions)
    }
  }

  /// Costs by which those cases come out as they were measured; what they do not tell stays as in
  /// ``init()``. Nil when one of the first three is missing.
  ///
  /// Each figure is a sum of a transaction's, a save's and a dispatched change's part, and the cases
  /// differ in how many of each there are: least squares of what they are off by, with no part below 0.
  /// Processor times are those of full load; by what they are greater evenly, processes are woken.
  public init?(calibratedOn cases: [MeasuredCase]) {
    self.init()
    let used = Self.calibrating(cases).map { cases[$0] }
    guard let plain = used.first(where: { !$0.isPaced && !$0.hasSubscriptions }),
      let even = used.first(where: { $0.isPaced && !$0.hasSubscriptions }),
      let dispatched = used.first(where: { !$0.isPaced && $0.hasSubscriptions })
    else { return nil }
    // Where there are about as many transactions for a save in all cases, their part cannot be told from
    // the save's: then it is the one that is known.
    let isKnown = abs(plain.commitsPerSave - even.commitsPerSave) < 0.2
    func parts(_ figure: (MeasuredCase) -> Double, known: Double) -> [Double] {
      let cases = [plain, even, dispatched]
      guard isKnown else {
        return Self.nonnegativeParts(
          cases.map { ([$0.commitsPerSave, 1, $0.hasSubscriptions ? 1 : 0], figure($0)) })
      }
      let rest = Self.nonnegativeParts(
        cases.map {
          ([1, $0.hasSubscriptions ? 1 : 0], figure($0) - known * $0.commitsPerSave)
        })
      return [known] + rest
    }
    let statements = parts(\.statementsPerSave, known: statements.transaction)
    self.statements = Statements(
      transaction: statements[0], save: max(0, statements[1] - requestReads),
      dispatch: max(0, statements[2] - dispatchReads))
    let bytes = parts(\.logBytesPerSave, known: commitLogBytes)
    (commitLogBytes, saveLogBytes, dispatchLogBytes) = (bytes[0], bytes[1], bytes[2])
    let server = Self.nonnegativeParts(
      [plain, dispatched].map { ([$0.statementsPerSave, 1], $0.serverSeconds) })
    (serverStatement, request, change) = (server[0], server[1], 0)
    // A commit is a statement too.
    let database = Self.nonnegativeParts(
      [plain, dispatched].map { ([$0.statementsPerSave], $0.postgreSQLSeconds) })
    (databaseStatement, databaseCommit) = (database[0], 0)
    let evenly = even.statementsPerSave
    serverWaking = max(0, (even.serverSeconds - request) / evenly - serverStatement)
    databaseWaking = max(0, even.postgreSQLSeconds / evenly - databaseStatement)
    let statementSeconds = serverStatement + databaseStatement + serverWaking + databaseWaking
    load = plain.loadSeconds
    flush = even.flushSeconds
    // What is left of a transaction's time, of which the others had no part.
    let each =
      (even.statementsPerSave - requestReads) / max(1e-9, even.commitsPerSave)
    let left = even.commitSeconds - flush - each * statementSeconds
    roundTrip = max(5e-6, left / each)
    if let alone = cases.first(where: {
      $0.servers == even.servers && $0.isPaced && $0.hasSubscriptions
    }), let beside = used.first(where: { $0.servers > even.servers }) {
      // The part of the saves that come to another server than the one with the lease.
      let others = 1 - 1 / Double(beside.servers)
      wordStatements = max(0, (beside.statementsPerSave - alone.statementsPerSave) / others)
      let later = (beside.loggedMean - alone.loggedMean) / others
      let work = wordStatements * statementSeconds
      if later.isFinite { wakeUp = max(0.001, later - work) }
    }
  }

  /// Numbers from 0 on for which the sums of products come nearest to the values, by their ratios:
  /// coordinate descent.
  static func nonnegativeParts(_ equations: [(factors: [Double], value: Double)]) -> [Double] {
    let count = equations.first?.factors.count ?? 0
    var parts = [Double](repeating: 0, count: count)
    let rows = equations.filter { $0.value > 0 }.map { row in
      row.factors.map { $0 / row.value }
    }
    for _ in 0..<20_000 {
      for part in 0..<count {
        var (product, square) = (0.0, 0.0)
        for row in rows where row[part] != 0 {
          var rest = 1.0
          for other in 0..<count where other != part { rest -= row[other] * parts[other] }
          product += row[part] * rest
          square += row[part] * row[part]
        }
        if square > 0 { parts[part] = max(0, product / square) }
      }
    }
    return parts
  }
}

extension ScaleScenario {
  /// The machine and the load of a measured case.
  ///
  /// - Parameters:
  ///   - databases: private ones, each with ten subscriptions.
  public init(
    of measured: MeasuredCase, databases: Int, publicShare: Double, cores: Int, writers: Int
  ) {
    self.init()
    isOneMachine = true
    mixesDatabases = true
    servers = measured.servers
    coresPerServer = cores
    writersPerServer = writers
    users = databases
    publicDatabases = 1
    self.publicShare = measured.hasSubscriptions ? publicShare : 0
    subscriptions = 10 * (databases + 1)
    isDispatched = measured.hasSubscriptions
    privateFirings = 1
    publicFirings = 1
    pushes = 0
    arrivals =
      measured.isPaced
      ? .even(perSecond: measured.savesPerSecond, lines: 4 * measured.servers)
      : .clients(measured.connections)
    warmUpSeconds = 1
    seconds = 5
  }
}
