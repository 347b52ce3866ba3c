/// One measurement of servers on one machine with their PostgreSQL and their load, as
/// `petrel bench cluster` makes it.
public struct MeasuredCase: Sendable {
  public var servers = 1
  /// To all servers together.
  public var connections = 16
  /// Whether saves came evenly, and not as fast as they were answered.
  public var isPaced = false
  public var hasSubscriptions = true
  public var savesPerSecond = 0.0
  public var statementsPerSave = 0.0
  public var commitsPerSave = 0.0
  public var logBytesPerSave = 0.0
  /// Processor seconds for each save.
  public var serverSeconds = 0.0
  public var postgreSQLSeconds = 0.0
  public var loadSeconds = 0.0
  /// Seconds of a transaction, and of a flush of the log, in the mean.
  public var commitSeconds = 0.0
  public var flushSeconds = 0.0
  /// Medians, in seconds; NaN where they were not measured.
  public var saveMedian = Double.nan
  public var loggedMedian = Double.nan

  public init() {}
}

extension ScaleCosts {
  /// The cases that ``init(calibratedOn:)`` uses: of the fewest servers as fast as they can without and
  /// with subscriptions, and evenly without.
  public static func calibrating(_ cases: [MeasuredCase]) -> [Int] {
    let least = cases.map(\.servers).min() ?? 1
    return cases.indices.filter {
      cases[$0].servers == least && !(cases[$0].isPaced && cases[$0].hasSubscriptions)
    }
  }

  /// Costs by which those cases come out as they were measured; what they do not tell stays as in
  /// ``init()``. Nil when one of them is missing.
  ///
  /// Each figure is a sum of a transaction's, a save's and a dispatched change's part, and the cases
  /// differ in how many of each there are: least squares of what they are off by, with no part below 0.
  public init?(calibratedOn cases: [MeasuredCase]) {
    self.init()
    let used = Self.calibrating(cases).map { cases[$0] }
    guard let plain = used.first(where: { !$0.isPaced && !$0.hasSubscriptions }),
      let even = used.first(where: { $0.isPaced && !$0.hasSubscriptions }),
      let dispatched = used.first(where: { !$0.isPaced && $0.hasSubscriptions })
    else { return nil }
    func parts(_ figure: (MeasuredCase) -> Double, _ others: (MeasuredCase) -> Double) -> [Double] {
      Self.nonnegativeParts(
        [plain, even, dispatched].map { one in
          ([others(one), 1, one.hasSubscriptions ? 1 : 0], figure(one))
        })
    }
    let statements = parts(\.statementsPerSave, \.commitsPerSave)
    self.statements = Statements(
      transaction: statements[0], save: statements[1], dispatch: statements[2])
    let bytes = parts(\.logBytesPerSave, \.commitsPerSave)
    (commitLogBytes, saveLogBytes, dispatchLogBytes) = (bytes[0], bytes[1], bytes[2])
    let server = parts(\.serverSeconds, \.statementsPerSave)
    (serverStatement, request, change) = (server[0], server[1], server[2])
    // PostgreSQL has but statements and commits to do.
    let database = Self.nonnegativeParts(
      [plain, even, dispatched].map { one in
        ([one.statementsPerSave, one.commitsPerSave], one.postgreSQLSeconds)
      })
    (databaseStatement, databaseCommit) = (database[0], database[1])
    load = plain.loadSeconds
    flush = even.flushSeconds
    // What is left of a transaction's time, of which the others had no part.
    let each = even.statementsPerSave / max(1e-9, even.commitsPerSave)
    let left =
      even.commitSeconds - flush - databaseCommit - each * (serverStatement + databaseStatement)
    roundTrip = max(5e-6, left / each)
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
