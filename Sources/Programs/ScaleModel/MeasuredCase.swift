/// One measurement of Petrel servers on one machine, together with their PostgreSQL and the load.
///
/// `petrel-bench cluster` makes these measurements. ``ScaleCosts/init(calibratedOn:)`` computes the
/// costs from them.
public struct MeasuredCase: Sendable {
  /// Servers that share the PostgreSQL database.
  public var servers = 1
  /// Connections of the load to all servers together.
  public var connections = 16
  /// Whether the load sent saves at an even rate. Otherwise each connection saved again after each
  /// answer.
  public var isPaced = false
  /// Whether there were subscriptions, so that the servers dispatched each change.
  public var hasSubscriptions = true
  /// Saves a second over all servers.
  public var savesPerSecond = 0.0
  /// SQL statements of all kinds for each save.
  public var statementsPerSave = 0.0
  /// Transactions of the servers' writers for each save.
  public var commitsPerSave = 0.0
  /// Bytes of write-ahead log for each save.
  public var logBytesPerSave = 0.0
  /// Processor seconds of the servers for each save.
  public var serverSeconds = 0.0
  /// Processor seconds of PostgreSQL for each save.
  public var postgreSQLSeconds = 0.0
  /// Processor seconds of the load for each save.
  public var loadSeconds = 0.0
  /// The mean seconds of a writer's transaction.
  public var commitSeconds = 0.0
  /// The mean seconds of a flush of the log.
  public var flushSeconds = 0.0
  /// The median seconds from a save to its answer; NaN if not measured.
  public var saveMedian = Double.nan
  /// The mean seconds from a save to its notification in the log; NaN without subscriptions.
  public var loggedMean = Double.nan

  /// Creates a case of one server without measured values.
  public init() {}
}

extension ScaleCosts {
  /// Returns the places of the cases that ``init(calibratedOn:)`` uses; the others can check the
  /// result.
  ///
  /// These are, of the smallest number of servers, all cases but the evenly paced one with
  /// subscriptions. Of the next greater number, the evenly paced one with subscriptions is used: it
  /// shows how long a wake-up of another server takes.
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

  /// Computes the costs with which the model reproduces the measured cases. Costs that the cases do
  /// not show keep the values of ``init()``.
  ///
  /// Each figure is a sum of three parts: of a transaction, of a save and of a dispatched change.
  /// The cases differ in how often each part occurs, so a least-squares fit separates them, with no
  /// part below 0. Processor costs come from the cases under full load. The extra processor time at
  /// an even rate becomes the cost of waking idle processes.
  ///
  /// Returns `nil` if one of three cases is missing: full load without and with subscriptions, and
  /// an even rate without subscriptions.
  public init?(calibratedOn cases: [MeasuredCase]) {
    self.init()
    let used = Self.calibrating(cases).map { cases[$0] }
    guard let plain = used.first(where: { !$0.isPaced && !$0.hasSubscriptions }),
      let even = used.first(where: { $0.isPaced && !$0.hasSubscriptions }),
      let dispatched = used.first(where: { !$0.isPaced && $0.hasSubscriptions })
    else { return nil }
    // If all cases have about the same number of transactions for each save, the fit cannot
    // separate the part of the transaction from the part of the save. The part of the transaction
    // then keeps its default.
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
    // The cost of a commit stays 0, because a commit is counted as a statement.
    let database = Self.nonnegativeParts(
      [plain, dispatched].map { ([$0.statementsPerSave], $0.postgreSQLSeconds) })
    (databaseStatement, databaseCommit) = (database[0], 0)
    let evenly = even.statementsPerSave
    serverWaking = max(0, (even.serverSeconds - request) / evenly - serverStatement)
    databaseWaking = max(0, even.postgreSQLSeconds / evenly - databaseStatement)
    let statementSeconds = serverStatement + databaseStatement + serverWaking + databaseWaking
    load = plain.loadSeconds
    flush = even.flushSeconds
    // The rest of a transaction's time, without flush and processors, is the time of its round
    // trips.
    let each =
      (even.statementsPerSave - requestReads) / max(1e-9, even.commitsPerSave)
    let left = even.commitSeconds - flush - each * statementSeconds
    roundTrip = max(5e-6, left / each)
    if let alone = cases.first(where: {
      $0.servers == even.servers && $0.isPaced && $0.hasSubscriptions
    }), let beside = used.first(where: { $0.servers > even.servers }) {
      // The fraction of the saves that arrive at another server than the one with the lease.
      let others = 1 - 1 / Double(beside.servers)
      notificationStatements = max(0, (beside.statementsPerSave - alone.statementsPerSave) / others)
      let later = (beside.loggedMean - alone.loggedMean) / others
      let work = notificationStatements * statementSeconds
      if later.isFinite { wakeUp = max(0.001, later - work) }
    }
  }

  /// Returns the parts, none below 0, whose weighted sums come nearest to the values.
  ///
  /// The function minimizes the squares of the relative errors by coordinate descent, with 20,000
  /// rounds. It ignores equations whose value is 0.
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
  /// Creates the scenario of a measured case: one machine with all servers, PostgreSQL and the
  /// load.
  ///
  /// - Parameters:
  ///   - measured: The measurement, which gives the servers, the connections and the rate.
  ///   - databases: The private databases. Each of them, and the one public database, has ten
  ///     subscriptions.
  ///   - publicShare: The fraction of saves into the public database (0–1); 0 is used without
  ///     subscriptions.
  ///   - cores: The processor cores of the machine.
  ///   - writers: The writer threads of each server.
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
