import ScaleModel
import Testing

struct ClusterSimulationTests {
  /// A small installation that is far from its limits.
  private func scenario(perSecond rate: Double = 2_000) -> ScaleScenario {
    var scenario = ScaleScenario()
    scenario.arrivals = .random(perSecond: rate)
    scenario.servers = 3
    scenario.coresPerServer = 2
    scenario.shards = 2
    scenario.coresPerShard = 4
    scenario.users = 10_000
    scenario.subscriptions = 100_000
    scenario.publicDatabases = 5
    scenario.seconds = 4
    scenario.warmUpSeconds = 1
    return scenario
  }

  @Test("answer and dispatch all that comes when there is room for it")
  func nothingIsLost() {
    let result = ClusterSimulation.run(scenario(), ScaleCosts())
    #expect(!result.isOverloaded && result.refused == 0)
    #expect(abs(result.savesPerSecond - 2_000) < 100)
    // What was under way as measuring began and ended.
    #expect(abs(result.offered - result.saved) < 50)
    #expect(abs(result.saved - result.dispatched) < 50)
    #expect(result.waitingChangesAtEnd < 50)
  }

  @Test("do the same again for a seed, and something else for another")
  func seeds() {
    var other = scenario()
    other.seed = 2
    let results = [scenario(), scenario(), other].map { ClusterSimulation.run($0, ScaleCosts()) }
    #expect(results[0].events == results[1].events)
    #expect(results[0].saveDelay.mean == results[1].saveDelay.mean)
    #expect(results[0].events != results[2].events)
  }

  @Test("are as busy as the utilization law says")
  func utilizationLaw() {
    let result = ClusterSimulation.run(scenario(), ScaleCosts())
    let load = CapacityFormulas(scenario(), ScaleCosts()).load(at: 2_000)
    #expect(abs(result.serverUtilization / load.server - 1) < 0.08, "\(load)")
    #expect(abs(result.shardUtilization / load.shard - 1) < 0.08, "\(load)")
    #expect(abs(result.logUtilization / load.log - 1) < 0.1, "\(load)")
  }

  @Test("have as many jobs at their processors as Little's law says")
  func littlesLaw() {
    let result = ClusterSimulation.run(scenario(), ScaleCosts())
    #expect(result.jobs > 0.1)
    #expect(abs(result.jobs / result.jobsByLittlesLaw - 1) < 0.02)
  }

  @Test("that only take requests make them wait as M/D/1 does")
  func oneQueue() {
    var scenario = scenario(perSecond: 1_400)
    scenario.servers = 1
    scenario.coresPerServer = 1
    scenario.isDispatched = false
    scenario.seconds = 60
    var costs = ScaleCosts()
    costs.request = 500e-6
    costs.requestReads = 0
    costs.statements = .init(transaction: 0, save: 0, dispatch: 0)
    (costs.databaseCommit, costs.roundTrip, costs.flush) = (0, 0, 0)
    (costs.commitLogBytes, costs.saveLogBytes) = (0, 0)
    let result = ClusterSimulation.run(scenario, costs)
    let queue = SingleQueue(arrivals: 1_400, serviceSeconds: 500e-6, service: .constant)
    #expect(abs(result.saveDelay.mean / (queue.expectedJobs / 1_400) - 1) < 0.06)
  }

  @Test("take no more saves into one database than its row lets through, however many they are")
  func oneDatabase() {
    var scenario = scenario(perSecond: 2_000)
    scenario.publicShare = 1
    scenario.publicDatabases = 1
    scenario.isDispatched = false
    scenario.writesPerCommit = 16
    var costs = ScaleCosts()
    costs.roundTrip = 200e-6
    let most = CapacityFormulas(scenario, costs).greatestRateOfOneDatabase
    #expect((200...500).contains(most))
    for servers in [2, 8] {
      scenario.servers = servers
      let result = ClusterSimulation.run(scenario, costs)
      #expect(result.isOverloaded)
      #expect((0.85...1.05).contains(result.savesPerSecond / most), "\(servers)")
      #expect(result.lockUtilization > 0.9)
    }
  }

  @Test("refuse what comes when as much waits as may")
  func limit() {
    var scenario = scenario(perSecond: 4_000)
    scenario.waitingWrites = 100
    scenario.writersPerServer = 1
    let result = ClusterSimulation.run(scenario, ScaleCosts())
    #expect(result.refused > 1_000 && result.mostWaitingWrites <= 200)
  }

  @Test("take over the databases of one that died, within the time of a lease and a look")
  func death() throws {
    var scenario = scenario()
    scenario.seconds = 15
    scenario.death = ScaleScenario.Death(second: 3)
    let result = ClusterSimulation.run(scenario, ScaleCosts())
    let recovery = try #require(result.recovery)
    #expect(recovery.isComplete && recovery.databases > 0)
    let patience = scenario.leaseSeconds + scenario.renewalSeconds + 1
    #expect((3...patience).contains(recovery.publicSeconds), "\(recovery)")
    #expect(recovery.privateSeconds < patience, "\(recovery)")
    #expect(recovery.deepest > 50)
    #expect(result.waitingChangesAtEnd < 50)
    #expect(result.moments.allSatisfy { $0.orphanedChanges <= $0.waitingChanges })
    #expect(result.moments.last?.orphanedChanges == 0)
  }
}
