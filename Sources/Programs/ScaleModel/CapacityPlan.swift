/// The servers and shards that a load needs, with the memory and disk space that it takes.
///
/// `petrel-bench simulate` prints it.
public struct CapacityPlan: Sendable {
  /// Servers of the cluster.
  public var servers = 1
  /// Shards: PostgreSQL nodes that hold the databases.
  public var shards = 1
  /// Bytes of subscription indexes in the memory of one server, on average.
  public var indexBytesPerServer = 0.0
  /// Bytes of subscription indexes of all servers together.
  public var indexBytes = 0.0
  /// Bytes that the shards' logs write in a day at the full rate.
  public var logBytesPerDay = 0.0
  /// Bytes of records and subscriptions in the store.
  public var storedBytes = 0.0

  /// Computes the numbers of servers and shards at which the resources listed under `utilization`
  /// are about as busy as permitted. Two other limits are ignored: the row of the busiest public
  /// database, and the pushes under way.
  ///
  /// The numbers depend on each other, so the computation repeats until they stay the same, at most
  /// 8 times.
  ///
  /// - Parameters:
  ///   - scenario: The load, with its rate. Its numbers of servers and shards are ignored.
  ///   - costs: The costs of each operation.
  ///   - recordsPerUser: The records that the store keeps for each user.
  ///   - utilization: The highest utilization of processors, writers, readers, log bandwidth and
  ///     index memory (0–1).
  public init(
    for scenario: ScaleScenario, _ costs: ScaleCosts, recordsPerUser: Double, utilization: Double
  ) {
    var scenario = scenario
    let rate = scenario.rate
    scenario.servers = 1
    scenario.shards = 1
    for _ in 0..<8 {
      let load = CapacityFormulas(scenario, costs).load(at: rate)
      func needed(_ count: Int, _ busy: Double) -> Int {
        max(1, Int((Double(count) * busy / utilization).rounded(.up)))
      }
      let indexed = scenario.indexBytes(costs) / (scenario.indexBytes * utilization)
      let next = (
        max(
          needed(scenario.servers, load.server), needed(scenario.servers, load.writers),
          needed(scenario.servers, load.readers),
          Int(indexed.rounded(.up))),
        max(needed(scenario.shards, load.shard), needed(scenario.shards, load.logBandwidth))
      )
      if next == (scenario.servers, scenario.shards) { break }
      (scenario.servers, scenario.shards) = next
    }
    servers = scenario.servers
    shards = scenario.shards
    let load = CapacityFormulas(scenario, costs).load(at: rate)
    indexBytes = scenario.indexBytes(costs)
    indexBytesPerServer = indexBytes / Double(servers)
    logBytesPerDay =
      CapacityFormulas(scenario, costs).logBytesPerSave(commits: load.transactionsPerSecond / rate)
      * rate * 86_400
    storedBytes =
      Double(scenario.users) * recordsPerUser * costs.storedBytes
      + Double(scenario.subscriptions) * costs.storedSubscriptionBytes
  }
}
