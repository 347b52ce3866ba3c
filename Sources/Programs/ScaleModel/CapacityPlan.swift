/// The numbers of servers and shards for a load, with the memory and the disk space for that load.
///
/// `petrel-bench simulate` prints it.
public struct CapacityPlan: Sendable {
  /// Servers of the cluster, at least 1.
  public var servers = 1
  /// Shards: the PostgreSQL nodes with the databases, at least 1.
  public var shards = 1
  /// Bytes of subscription indexes in the memory of one server, on average. Servers match changes
  /// with these indexes.
  public var indexBytesPerServer = 0.0
  /// Bytes of subscription indexes of all servers together.
  public var indexBytes = 0.0
  /// Bytes that all shards write into their write-ahead logs in a day at the full rate.
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
  ///   - scenario: The load, with its rate of saves. The scenario's own numbers of servers and
  ///     shards are ignored.
  ///   - costs: The costs of each operation.
  ///   - recordsPerUser: The records that the store keeps for each user.
  ///   - utilization: The highest permitted utilization of each of these resources (above 0, at
  ///     most 1): processors, writers, readers, log bandwidth and index memory.
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
