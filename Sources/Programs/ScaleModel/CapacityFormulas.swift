import Foundation

/// The load of each resource of a cluster, computed from the costs by the utilization law alone.
///
/// The law: utilization = rate of operations × seconds that one operation takes. There is no
/// simulation, so the formulas say how busy a resource is, not how long a save waits.
/// ``ClusterSimulation`` gives the waiting times; at low load both agree on the utilizations.
///
///     let formulas = CapacityFormulas(ScaleScenario(), ScaleCosts())
///     formulas.load(at: 2_000).resources.first   // the busiest resource at 2,000 saves a second
///     formulas.greatestRate()                    // saves a second at which it is saturated
public struct CapacityFormulas: Sendable {
  /// The utilization of each resource at one rate of saves: 0 is idle, 1 is saturated, more is
  /// impossible.
  public struct Load: Sendable {
    /// Saves and dispatched batches that share a transaction, on average.
    public var jobsPerTransaction = 1.0
    /// Transactions of the servers' writers a second, over all servers.
    public var transactionsPerSecond = 0.0
    /// Statements of these transactions a second, without those of read-only transactions.
    public var statementsPerSecond = 0.0
    /// The utilization of the servers' processors.
    public var server = 0.0
    /// The utilization of the shards' processors.
    public var shard = 0.0
    /// The fraction of the time in which a shard's log is flushed (0–1). Commits share a flush, so
    /// a value near 1 does not mean that the log is saturated.
    public var log = 0.0
    /// The fraction of its bandwidth that a shard's log uses.
    public var logBandwidth = 0.0
    /// The utilization of the servers' writer threads.
    public var writers = 0.0
    /// The utilization of the servers' read-only connections.
    public var readers = 0.0
    /// The saves into the busiest public database, as a fraction of
    /// ``CapacityFormulas/greatestRateOfOneDatabase``.
    public var busiestDatabase = 0.0
    /// The open pushes, as a fraction of the pushes that the servers may have open.
    public var openPushes = 0.0

    /// The names of the resources with their utilization, the busiest first. ``log`` is absent,
    /// because its value says nothing about saturation.
    public var resources: [(name: String, utilization: Double)] {
      [
        ("servers' processors", server), ("shards' processors", shard),
        ("bandwidth of the shards' logs", logBandwidth), ("servers' writers", writers),
        ("servers' readers", readers),
        ("row of the busiest public database", busiestDatabase), ("pushes under way", openPushes),
      ].sorted { $0.1 > $1.1 }
    }
  }

  /// The machines and the saves.
  public let scenario: ScaleScenario
  /// The costs of each operation.
  public let costs: ScaleCosts

  /// Creates the formulas for a scenario; nothing is computed yet.
  public init(_ scenario: ScaleScenario, _ costs: ScaleCosts) {
    self.scenario = scenario
    self.costs = costs
  }

  /// Notifications that a save causes, on average over public and private databases; 0 if nothing
  /// is dispatched.
  public var firings: Double {
    guard scenario.isDispatched else { return 0 }
    return scenario.publicShare * scenario.publicFirings
      + (1 - scenario.publicShare) * scenario.privateFirings
  }

  /// Changes to dispatch for each save: 1, or 0 if nothing is dispatched.
  private var changes: Double { scenario.isDispatched ? 1 : 0 }
  /// Notifications of a save beyond the first.
  private var further: Double { max(0, firings - changes) }

  /// Returns the seconds of a transaction that waits for nothing: no lock, no busy processor, no
  /// flush of others.
  ///
  /// - Parameters:
  ///   - saves: The saves in the transaction.
  ///   - changes: The dispatched changes in the transaction, each with one notification and no
  ///     push.
  public func transactionSeconds(saves: Double, changes: Double = 0) -> Double {
    let work = costs.transaction(
      saves: saves, changes: changes, firings: changes, pushes: 0)
    return costs.roundTrip * (1 + max(0, work.roundTrips - 2)) + work.server + work.postgreSQL
      + costs.flush + work.logBytes / costs.logBandwidth
  }

  /// The most saves a second into one database, for any number of servers. One transaction at a
  /// time locks the database's row, and a transaction has at most ``ScaleScenario/writesPerCommit``
  /// saves.
  public var greatestRateOfOneDatabase: Double {
    let most = Double(scenario.writesPerCommit)
    return most / transactionSeconds(saves: most)
  }

  /// Returns the load at `rate` saves a second over the whole cluster.
  public func load(at rate: Double) -> Load {
    var load = Load()
    let jobs = rate * (1 + changes)
    let (servers, shards) = (Double(scenario.servers), Double(scenario.shards))
    let writers = servers * Double(scenario.writersPerServer)
    // Half of the jobs are saves, the other half dispatched changes. A transaction of g jobs takes
    // a + b g seconds, and all writers together finish jobs / g transactions a second. `base` is a,
    // `each` is b.
    let one = transactionSeconds(saves: 1 / (1 + changes), changes: changes / 2)
    let two = transactionSeconds(saves: 2 / (1 + changes), changes: changes)
    let each = two - one
    let base = one - each
    let left = writers - jobs * each
    let most = Double(scenario.writesPerCommit)
    // If transactions do not mix databases, two saves of the same database rarely wait together.
    load.jobsPerTransaction =
      !scenario.mixesDatabases
      ? 1 : left > 0 ? min(most, max(1, jobs * base / left)) : most
    load.transactionsPerSecond = jobs / load.jobsPerTransaction
    load.writers =
      load.transactionsPerSecond * (base + each * load.jobsPerTransaction) / writers
    load.readers =
      rate * costs.requestReads
      * (costs.roundTrip + costs.serverStatement + costs.databaseStatement)
      / (servers * Double(scenario.readersPerServer))
    load.statementsPerSecond =
      load.transactionsPerSecond * costs.statements.transaction
      + rate * (costs.statements.save + changes * costs.statements.dispatch)
    let reads = rate * (costs.requestReads + changes * costs.dispatchReads)
    let notificationStatements =
      rate * changes * scenario.foreignShare * costs.notificationStatements
    let pushes = firings * scenario.pushes
    let cold = changes * (1 - scenario.publicShare) * (1 - scenario.warmShare(costs))
    let ofServer =
      rate
      * (costs.request + changes * costs.change + further * costs.furtherNotification
        + pushes * costs.push
        + cold
        * (costs.indexStatements * (costs.serverStatement + costs.databaseStatement)
          + scenario.subscriptions(of: scenario.publicDatabases, parts: [])
          * costs.indexedSubscription))
      + (load.statementsPerSecond + reads + notificationStatements) * costs.serverStatement
    let ofShard =
      (load.statementsPerSecond + reads + notificationStatements) * costs.databaseStatement
      + load.transactionsPerSecond * costs.databaseCommit
      + rate * (further * costs.databaseFurtherNotification + pushes * costs.databasePush)
    if scenario.isOneMachine {
      load.server =
        (ofServer + ofShard + rate * costs.load) / Double(scenario.coresPerServer)
      load.shard = load.server
    } else {
      load.server = ofServer / (servers * Double(scenario.coresPerServer))
      load.shard = ofShard / (shards * Double(scenario.coresPerShard))
    }
    let commits = load.transactionsPerSecond / shards
    // If a commit arrives during a flush, the next flush begins at once; otherwise it begins with
    // the next commit.
    load.log = costs.flush / (costs.flush + exp(-commits * costs.flush) / commits)
    load.logBandwidth =
      logBytesPerSave(commits: load.transactionsPerSecond / rate) * rate
      / shards / costs.logBandwidth
    load.busiestDatabase =
      rate * scenario.publicShare * (scenario.publicParts.first ?? 0) / greatestRateOfOneDatabase
    load.openPushes =
      rate * pushes * scenario.pushRoundTrip / (servers * Double(scenario.openPushes))
    return load
  }

  /// Returns the bytes of log for one save, with its dispatch and pushes.
  ///
  /// - Parameter commits: The transactions for each save.
  public func logBytesPerSave(commits: Double) -> Double {
    costs.commitLogBytes * commits + costs.saveLogBytes + changes * costs.dispatchLogBytes
      + further * costs.furtherNotificationLogBytes
      + firings * scenario.pushes * costs.pushLogBytes
  }

  /// Returns the most saves a second at which no resource is busier than `limit`, found by
  /// bisection from 1 to 10⁹. The result is 1 if a resource is busier even then.
  public func greatestRate(utilization limit: Double = 1) -> Double {
    var (low, high) = (1.0, 1e9)
    for _ in 0..<80 {
      let middle = (low * high).squareRoot()
      let busiest = load(at: middle).resources.first?.utilization ?? 0
      if busiest > limit { high = middle } else { low = middle }
    }
    return low
  }
}
