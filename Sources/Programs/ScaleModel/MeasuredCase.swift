/// One measurement by `petrel-bench cluster`. The servers, their PostgreSQL and the load generator
/// run on the same machine.
public struct MeasuredCase: Sendable {
  /// Servers that share the PostgreSQL.
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
  /// Transactions of the servers' writers for each save.
  public var commitsPerSave = 0.0
  /// Catch-ups for each save.
  public var catchUpsPerSave = 0.0
  /// The work for each save.
  public var work = Cost()
  /// Processor seconds of the load generator for each save.
  public var loadSeconds = 0.0
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
  /// Returns the cases that ``init(calibratedOn:)`` uses: those with the smallest number of servers,
  /// and the evenly paced one with the next greater number. The other cases can check the result.
  public static func calibrating(_ cases: [MeasuredCase]) -> [Int] {
    let counts = Set(cases.map(\.servers)).sorted()
    return cases.indices.filter { place in
      let one = cases[place]
      return one.servers == counts[0] || counts.firstIndex(of: one.servers) == 1 && one.isPaced
    }
  }

  /// Computes the costs with which the model reproduces the measured cases. The other costs keep
  /// the values of ``init()``.
  ///
  /// The work for a save is a sum: a part for each transaction, one for the save, one for its
  /// dispatched change, and one for each catch-up. The cases differ in how often each part occurs,
  /// so a least-squares fit separates the parts, with no part below 0.
  ///
  /// Returns `nil` if one of the five cases is missing.
  public init?(calibratedOn cases: [MeasuredCase]) {
    self.init()
    let used = Self.calibrating(cases).map { cases[$0] }
    guard used.count == 5, Set(used.map(\.servers)).count == 2 else { return nil }
    for figure in [\Cost.server, \.database, \.logBytes] {
      let parts = Self.nonnegativeParts(
        used.map {
          (
            [$0.commitsPerSave, 1, $0.hasSubscriptions ? 1 : 0, $0.catchUpsPerSave],
            $0.work[keyPath: figure]
          )
        })
      transaction[keyPath: figure] = parts[0]
      save[keyPath: figure] = parts[1]
      change[keyPath: figure] = parts[2]
      catchUp[keyPath: figure] = parts[3]
    }
    load = used[0].loadSeconds
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
  /// - Parameter publicShare: The fraction of the saves that go into the public database (0–1). For
  ///   a measurement without subscriptions, the scenario uses 0.
  public init(
    of measured: MeasuredCase, databases: Int, publicShare: Double, cores: Int, writers: Int
  ) {
    self.init()
    isOneMachine = true
    readsCaller = false
    servers = measured.servers
    coresPerServer = cores
    writersPerServer = writers
    users = databases
    publicDatabases = 1
    self.publicShare = measured.hasSubscriptions ? publicShare : 0
    subscriptions = 10 * (databases + 1)
    isDispatched = measured.hasSubscriptions
    publicFirings = 1
    pushes = 0
    arrivals =
      measured.isPaced
      ? .even(perSecond: measured.savesPerSecond) : .clients(measured.connections)
    warmUpSeconds = 1
    seconds = 5
  }
}
