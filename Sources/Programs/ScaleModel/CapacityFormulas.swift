import Foundation

/// The load of each resource of a cluster, computed from the costs by the utilization law alone.
///
/// The law: utilization = rate of operations × seconds that one operation takes. There is no
/// simulation, so the formulas say how busy a resource is, not how long a save waits.
/// ``ClusterSimulation`` computes the waiting times, and explains the words of the model, such as
/// shard and dispatch. At low load, formulas and simulation agree on the utilizations.
///
///     let formulas = CapacityFormulas(ScaleScenario(), ScaleCosts())
///     formulas.load(at: 2_000).resources.first   // the busiest resource at 2,000 saves a second
///     formulas.greatestRate()                    // saves a second at which it is saturated
public struct CapacityFormulas: Sendable {
  /// The utilization of each resource at one rate of saves: 0 is idle, 1 is saturated, more is
  /// impossible.
  public struct Load: Sendable {
    /// Saves and dispatched changes that share a transaction, on average.
    public var jobsPerTransaction = 1.0
    /// Transactions of the servers' writers a second, over all servers. A writer is a thread with
    /// one connection to PostgreSQL.
    public var transactionsPerSecond = 0.0
    /// SQL statements of these transactions a second. The statements of read-only transactions do
    /// not count.
    public var statementsPerSecond = 0.0
    /// The utilization of the servers' processors.
    public var server = 0.0
    /// The utilization of the shards' processors.
    public var shard = 0.0
    /// The fraction of the time in which a shard flushes its write-ahead log (0–1). Commits share a
    /// flush, so a value near 1 does not mean that the log is saturated.
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
    /// The pushes without an answer of APNs, as a fraction of ``ScaleScenario/openPushes`` for all
    /// servers together.
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

  /// Notifications that a save causes, on average over public and private databases. The value is 0
  /// if ``ScaleScenario/isDispatched`` is `false`.
  public var firings: Double {
    guard scenario.isDispatched else { return 0 }
    return scenario.publicShare * scenario.publicFirings
      + (1 - scenario.publicShare) * scenario.privateFirings
  }

  /// Changes to dispatch for each save: 1, or 0 if ``ScaleScenario/isDispatched`` is `false`.
  private var changes: Double { scenario.isDispatched ? 1 : 0 }
  /// Notifications of a save beyond the first.
  private var further: Double { max(0, firings - changes) }

  /// Returns the seconds of a transaction that never waits for a lock, a busy processor or the
  /// flush of another transaction.
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

  /// The most saves a second into one database. More servers do not increase the value: one
  /// transaction at a time locks the database's row. A transaction has at most
  /// ``ScaleScenario/writesPerCommit`` saves.
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
    // Jobs are saves and dispatched changes. With dispatch there are as many changes as saves;
    // without dispatch, all jobs are saves. A transaction of g jobs takes a + b g seconds, and all
    // writers together finish jobs / g transactions a second. `base` is a, `each` is b.
    let one = transactionSeconds(saves: 1 / (1 + changes), changes: changes / 2)
    let two = transactionSeconds(saves: 2 / (1 + changes), changes: changes)
    let each = two - one
    let base = one - each
    let left = writers - jobs * each
    let most = Double(scenario.writesPerCommit)
    // Without `mixesDatabases`, a transaction has only jobs of one database. Two jobs of the same
    // database rarely wait at the same time.
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
    // If a commit arrives during a flush, the next flush begins directly after this one. Otherwise
    // the next flush begins with the next commit.
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

  /// Returns the bytes of PostgreSQL's write-ahead log for one save, with its dispatch and pushes.
  ///
  /// - Parameter commits: The transactions for each save, on average. It is below 1 if saves share
  ///   transactions.
  public func logBytesPerSave(commits: Double) -> Double {
    costs.commitLogBytes * commits + costs.saveLogBytes + changes * costs.dispatchLogBytes
      + further * costs.furtherNotificationLogBytes
      + firings * scenario.pushes * costs.pushLogBytes
  }

  /// Returns the most saves a second at which no resource of ``Load/resources`` is busier than
  /// `limit`. The method searches from 1 to 10⁹ saves a second by bisection. The result is about 1
  /// if a resource is busier than `limit` even at 1 save a second.
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
