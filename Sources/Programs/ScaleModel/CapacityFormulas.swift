import Foundation

/// What follows from the costs by the utilization law alone, without a simulation: a resource is busy for the
/// part of the time that the rate of what it does times the time of each is.
public struct CapacityFormulas: Sendable {
  /// How busy everything is.
  public struct Load: Sendable {
    /// Saves and dispatched batches that share a transaction.
    public var jobsPerTransaction = 1.0
    public var transactionsPerSecond = 0.0
    public var statementsPerSecond = 0.0
    public var server = 0.0
    public var shard = 0.0
    /// The part of the time in which a shard's log is being flushed; commits share a flush, so that it
    /// may be near 1 long before there is no room.
    public var log = 0.0
    /// The part of its bandwidth that a shard's log takes.
    public var logBandwidth = 0.0
    public var writers = 0.0
    public var readers = 0.0
    /// The part of the greatest rate of one database that the busiest public one has.
    public var busiestDatabase = 0.0
    /// Pushes that are open of those that may be.
    public var openPushes = 0.0

    /// The names of the resources, and how busy they are, the busiest first.
    public var resources: [(name: String, utilization: Double)] {
      [
        ("servers' processors", server), ("shards' processors", shard),
        ("bandwidth of the shards' logs", logBandwidth), ("servers' writers", writers),
        ("servers' readers", readers),
        ("row of the busiest public database", busiestDatabase), ("pushes under way", openPushes),
      ].sorted { $0.1 > $1.1 }
    }
  }

  public let scenario: ScaleScenario
  public let costs: ScaleCosts

  public init(_ scenario: ScaleScenario, _ costs: ScaleCosts) {
    self.scenario = scenario
    self.costs = costs
  }

  /// Notifications of a save, in the mean.
  public var firings: Double {
    guard scenario.isDispatched else { return 0 }
    return scenario.publicShare * scenario.publicFirings
      + (1 - scenario.publicShare) * scenario.privateFirings
  }

  private var changes: Double { scenario.isDispatched ? 1 : 0 }
  /// Notifications of a save beyond the first.
  private var further: Double { max(0, firings - changes) }

  /// The seconds of a transaction, of which nothing waits for anything: of itself, and further for each of
  /// so many saves.
  public func transactionSeconds(saves: Double, changes: Double = 0) -> Double {
    let work = costs.transaction(
      saves: saves, changes: changes, firings: changes, pushes: 0)
    return costs.roundTrip * (1 + max(0, work.roundTrips - 2)) + work.server + work.postgreSQL
      + costs.flush + work.logBytes / costs.logBandwidth
  }

  /// The most saves a second that one database takes, whatever the number of servers: its row is locked
  /// by one transaction at a time, which has as many saves as a commit may have.
  public var greatestRateOfOneDatabase: Double {
    let most = Double(scenario.writesPerCommit)
    return most / transactionSeconds(saves: most)
  }

  /// How busy everything is at so many saves a second.
  public func load(at rate: Double) -> Load {
    var load = Load()
    let jobs = rate * (1 + changes)
    let (servers, shards) = (Double(scenario.servers), Double(scenario.shards))
    let writers = servers * Double(scenario.writersPerServer)
    // Half of the jobs are saves: with g jobs a transaction takes a + b g seconds, and all writers together
    // do jobs / g of them in a second.
    let one = transactionSeconds(saves: 1 / (1 + changes), changes: changes / 2)
    let two = transactionSeconds(saves: 2 / (1 + changes), changes: changes)
    let each = two - one
    let base = one - each
    let left = writers - jobs * each
    let most = Double(scenario.writesPerCommit)
    // Where databases are not mixed, hardly ever two saves are of the same.
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
    let words = rate * changes * scenario.foreignShare * costs.wordStatements
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
      + (load.statementsPerSecond + reads + words) * costs.serverStatement
    let ofShard =
      (load.statementsPerSecond + reads + words) * costs.databaseStatement
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
    // After a flush there is another at once if a commit came meanwhile, else when the next comes.
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

  /// Bytes of the log for each save, with what it fires, when so many transactions come to a save.
  public func logBytesPerSave(commits: Double) -> Double {
    costs.commitLogBytes * commits + costs.saveLogBytes + changes * costs.dispatchLogBytes
      + further * costs.furtherNotificationLogBytes
      + firings * scenario.pushes * costs.pushLogBytes
  }

  /// The most saves a second at which nothing is busier than a limit, by bisection.
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
