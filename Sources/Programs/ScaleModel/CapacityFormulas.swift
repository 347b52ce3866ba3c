/// The load of each resource of a cluster, computed from the costs by the utilization law alone:
/// utilization = rate of operations × seconds that one operation takes.
///
/// The formulas say how busy a resource is, not how long a save waits; ``ClusterSimulation``
/// computes that. They count a transaction for each save and for each dispatched change. At high
/// load, jobs of one database share transactions, so the formulas are upper bounds.
public struct CapacityFormulas: Sendable {
  /// The utilization of each resource: 0 is idle, 1 is saturated, more is impossible.
  public struct Load: Sendable {
    /// The utilization of the servers' processors.
    public var serverProcessors = 0.0
    /// The utilization of the shards' processors.
    public var shardProcessors = 0.0
    /// The fraction of its bandwidth that a shard's log uses.
    public var logBandwidth = 0.0
    /// The utilization of the servers' writers.
    public var writers = 0.0
    /// The saves into the busiest public database, as a fraction of
    /// ``CapacityFormulas/greatestRateOfOneDatabase``.
    public var busiestDatabase = 0.0

    /// The resources with their utilization, the busiest first.
    public var resources: [(name: String, utilization: Double)] {
      [
        ("servers' processors", serverProcessors), ("shards' processors", shardProcessors),
        ("bandwidth of the shards' logs", logBandwidth), ("servers' writers", writers),
        ("row of the busiest public database", busiestDatabase),
      ].sorted { $0.1 > $1.1 }
    }
  }

  private let scenario: ScaleScenario
  private let costs: ScaleCosts

  /// Creates the formulas for a load with its machines.
  public init(_ scenario: ScaleScenario, _ costs: ScaleCosts) {
    self.scenario = scenario
    self.costs = costs
  }

  /// Notifications of a save, on average over public and private databases.
  public var firings: Double {
    guard scenario.isDispatched else { return 0 }
    return scenario.publicShare * scenario.publicFirings + 1 - scenario.publicShare
  }

  private var changes: Double { scenario.isDispatched ? 1 : 0 }

  /// The work of the transactions for a save: one with the save, and one with its change.
  private var written: Cost {
    costs.work(saves: 1, changes: 0, firings: 0, pushes: 0)
      + changes
      * costs.work(saves: 0, changes: 1, firings: firings, pushes: firings * scenario.pushes)
  }

  private var work: Cost {
    var work =
      written + changes * foreignShare * costs.catchUp
      + firings * scenario.pushes * costs.delivery
    if scenario.readsCaller { work = work + costs.caller }
    work.server += costs.preparedShare * (costs.save.server + changes * costs.change.server)
    return work
  }

  /// The fraction of the changes that one server saves while another has the database's lease.
  private var foreignShare: Double {
    let others = 1 - 1 / Double(scenario.servers)
    if case .random = scenario.arrivals { return scenario.publicShare * others }
    return others
  }

  var logBytes: Double { work.logBytes }

  /// Returns the seconds of a transaction with these saves that locks first, for which it has its
  /// rows locked.
  public func lockSeconds(saves: Int) -> Double {
    costs.lockSeconds(costs.work(saves: Double(saves), changes: 0, firings: 0, pushes: 0))
  }

  /// The most saves a second into one public database, from any number of servers. One transaction
  /// at a time has the lock of the database's row: transactions of
  /// ``ScaleScenario/writesPerCommit`` saves, and of batches that dispatch them.
  public var greatestRateOfOneDatabase: Double {
    let saves = Double(scenario.writesPerCommit)
    let batch = min(
      Double(scenario.dispatchBatch), Double(scenario.firingsOfBatch) / scenario.publicFirings)
    let firings = batch * scenario.publicFirings
    let dispatching = costs.lockSeconds(
      costs.work(saves: 0, changes: batch, firings: firings, pushes: firings * scenario.pushes))
    return saves
      / (lockSeconds(saves: scenario.writesPerCommit) + changes * saves / batch * dispatching)
  }

  /// Returns the load at `rate` saves a second over the whole cluster.
  public func load(at rate: Double) -> Load {
    var load = Load()
    let (servers, shards) = (Double(scenario.servers), Double(scenario.shards))
    let work = rate * work
    load.serverProcessors = work.server / (servers * Double(scenario.coresPerServer))
    load.shardProcessors = work.database / (shards * Double(scenario.coresPerShard))
    load.logBandwidth = work.logBytes / shards / costs.logBandwidth
    let transactions = 1 + changes
    load.writers =
      rate
      * (transactions * (2 * costs.roundTrip + costs.flush) + written.server + written.database)
      / (servers * Double(scenario.writersPerServer))
    load.busiestDatabase =
      rate * scenario.publicShare * (scenario.publicParts.first ?? 0) / greatestRateOfOneDatabase
    return load
  }

  /// The saves a second at which the first resource is saturated.
  public var greatestRate: Double { 1 / (load(at: 1).resources.first?.utilization ?? 1) }
}

/// The numbers of servers and shards for a load, with the memory and the disk space for that load.
public struct CapacityPlan: Sendable {
  /// Servers of the cluster.
  public var servers: Int
  /// Shards: the PostgreSQL nodes with the databases.
  public var shards: Int
  /// Bytes of subscription indexes of all servers together.
  public let indexBytes: Double
  /// Bytes that all shards write into their logs in a day at the full rate.
  public let logBytesPerDay: Double
  /// Bytes of records and subscriptions in the store.
  public let storedBytes: Double

  /// Computes the numbers of servers and shards with which no processor, writer, log or memory is
  /// busier than permitted. The row of the busiest public database is not considered, because
  /// machines do not change its limit.
  ///
  /// - Parameters:
  ///   - scenario: The load. The scenario's own numbers of servers and shards are ignored.
  ///   - recordsPerUser: The records that the store keeps for each user.
  ///   - utilization: The highest permitted utilization (above 0, at most 1).
  public init(
    for scenario: ScaleScenario, _ costs: ScaleCosts, recordsPerUser: Double, utilization: Double
  ) {
    // With many servers, nearly all changes of public databases are saved by others than the holder.
    var many = scenario
    (many.servers, many.shards) = (1_000, 1)
    let formulas = CapacityFormulas(many, costs)
    let load = formulas.load(at: scenario.rate)
    indexBytes = Double(scenario.subscriptions) * costs.indexedSubscriptionBytes
    let busiest = max(
      1_000 * max(load.serverProcessors, load.writers), indexBytes / scenario.indexBytes)
    servers = max(1, Int((busiest / utilization).rounded(.up)))
    shards = max(
      1, Int((max(load.shardProcessors, load.logBandwidth) / utilization).rounded(.up)))
    logBytesPerDay = formulas.logBytes * scenario.rate * 86_400
    storedBytes =
      Double(scenario.users) * recordsPerUser * costs.storedBytes
      + Double(scenario.subscriptions) * costs.storedSubscriptionBytes
  }
}
