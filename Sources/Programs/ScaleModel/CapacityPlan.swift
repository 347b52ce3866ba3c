/// How many machines a load takes, and how much they keep.
public struct CapacityPlan: Sendable {
  public var servers = 1
  public var shards = 1
  /// Bytes of the indexes on each server, and of all together.
  public var indexBytesPerServer = 0.0
  public var indexBytes = 0.0
  /// Bytes of the log in a day at the full rate.
  public var logBytesPerDay = 0.0
  public var storedBytes = 0.0

  /// - Parameters:
  ///   - scenario: with the rate that is to be carried; its numbers of servers and shards do not count.
  ///   - recordsPerUser: that the store keeps.
  ///   - utilization: that no processor and no log is to be busier than.
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
