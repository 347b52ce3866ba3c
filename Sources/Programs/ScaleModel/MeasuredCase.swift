/// One measurement of Petrel servers. Their PostgreSQL and the load generator run on the same
/// machine.
///
/// `petrel-bench cluster` makes these measurements. ``ScaleCosts/init(calibratedOn:)`` computes the
/// costs from them.
public struct MeasuredCase: Sendable {
  /// Servers that share the PostgreSQL database.
  public var servers = 1
  /// Connections of the load generator to all servers together.
  public var connections = 16
  /// Whether the load generator sent saves at an even rate. Otherwise each connection sent its next
  /// save after each answer, so the servers had full load.
  public var isPaced = false
  /// Whether there were subscriptions, so that the servers dispatched each change.
  public var hasSubscriptions = true
  /// Saves a second over all servers.
  public var savesPerSecond = 0.0
  /// SQL statements of all kinds for each save.
  public var statementsPerSave = 0.0
  /// Transactions of the servers' writers for each save.
  public var commitsPerSave = 0.0
  /// Bytes of PostgreSQL's write-ahead log for each save.
  public var logBytesPerSave = 0.0
  /// Processor seconds of the servers for each save.
  public var serverSeconds = 0.0
  /// Processor seconds of PostgreSQL for each save.
  public var postgreSQLSeconds = 0.0
  /// Processor seconds of the load generator for each save.
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
  /// Returns the indices of the cases that ``init(calibratedOn:)`` fits the costs to. The other
  /// cases can check the result.
  ///
  /// The indices are those of:
  ///
  /// - all cases with the smallest number of servers, except the evenly paced case with
  ///   subscriptions;
  /// - the evenly paced case with subscriptions and the next greater number of servers. That case
  ///   shows how long a wake-up of another server takes. The initializer compares it with the
  ///   excepted case.
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

  /// Computes the costs with which the model reproduces the measured cases. Costs that cannot be
  /// computed from the cases keep the values of ``init()``.
  ///
  /// The number of statements for each save is a sum of three parts: a part for each transaction, a
  /// part for the save, and a part for its dispatched change. The same is true of the bytes of log.
  /// The cases differ in how often each part occurs, so a least-squares fit separates the parts,
  /// with no part below 0. Processor costs are computed from the cases under full load. The extra
  /// processor time at an even rate becomes the cost of waking idle processes.
  ///
  /// Returns `nil` if the smallest number of servers lacks one of three cases: full load without
  /// subscriptions, full load with subscriptions, and an even rate without subscriptions.
  public init?(calibratedOn cases: [MeasuredCase]) {
    self.init()
    let used = Self.calibrating(cases).map { cases[$0] }
    guard let plain = used.first(where: { !$0.isPaced && !$0.hasSubscriptions }),
      let even = used.first(where: { $0.isPaced && !$0.hasSubscriptions }),
      let dispatched = used.first(where: { !$0.isPaced && $0.hasSubscriptions })
    else { return nil }
    // The two cases without subscriptions may have about the same number of transactions for each
    // save. The fit then cannot separate the part of the transaction from the part of the save. The
    // part of the transaction then keeps its default (`known`).
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
    // The time of a transaction, minus the flush and the processor time, is the time of its round
    // trips.
    let each =
      (even.statementsPerSave - requestReads) / max(1e-9, even.commitsPerSave)
    let left = even.commitSeconds - flush - each * statementSeconds
    roundTrip = max(5e-6, left / each)
    if let alone = cases.first(where: {
      $0.servers == even.servers && $0.isPaced && $0.hasSubscriptions
    }), let beside = used.first(where: { $0.servers > even.servers }) {
      // The fraction of the saves that arrive at a server without the database's lease.
      let others = 1 - 1 / Double(beside.servers)
      notificationStatements = max(0, (beside.statementsPerSave - alone.statementsPerSave) / others)
      let later = (beside.loggedMean - alone.loggedMean) / others
      let work = notificationStatements * statementSeconds
      if later.isFinite { wakeUp = max(0.001, later - work) }
    }
  }

  /// Returns the parts, none below 0, that solve the equations best. In each equation, the sum of
  /// `factors[i] * parts[i]` should be `value`.
  ///
  /// The function minimizes the sum of the squared relative errors by coordinate descent, in 20,000
  /// rounds. It ignores equations whose value is not above 0.
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
  /// Creates the scenario of a measured case: one machine with all servers, PostgreSQL and the load
  /// generator.
  ///
  /// - Parameters:
  ///   - measured: The measurement, with the numbers of servers and connections and the rate.
  ///   - databases: The number of private databases. The number of subscriptions is ten times that
  ///     of all databases, with the one public database. ``publicSubscriptionShare`` keeps its
  ///     default.
  ///   - publicShare: The fraction of the saves that go into the public database (0–1). For a
  ///     measurement without subscriptions, the scenario uses 0.
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
