import Testing

@testable import ScaleModel

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
    var scenario = scenario(perSecond: 600)
    scenario.publicShare = 0
    let result = ClusterSimulation.run(scenario, ScaleCosts())
    let load = CapacityFormulas(scenario, ScaleCosts()).load(at: 600)
    #expect(abs(result.serverUtilization / load.serverProcessors - 1) < 0.08, "\(load)")
    #expect(abs(result.shardUtilization / load.shardProcessors - 1) < 0.08, "\(load)")
  }

  @Test("that only take requests make them wait as M/D/1 does", arguments: [0.3, 0.7, 0.85])
  func oneQueue(load: Double) {
    var scenario = scenario(perSecond: load * 2_000)
    (scenario.servers, scenario.coresPerServer, scenario.seconds) = (1, 1, 60)
    scenario.isDispatched = false
    var costs = ScaleCosts()
    (costs.transaction, costs.caller, costs.save) = (Cost(), Cost(), Cost(server: 500e-6))
    (costs.preparedShare, costs.roundTrip, costs.flush) = (1, 0, 0)
    let result = ClusterSimulation.run(scenario, costs)
    // Kleinrock, "Queueing Systems", volume 1: the jobs in the system, by Little's law.
    let jobs = load + load * load / (2 * (1 - load))
    #expect(abs(result.saveDelay.mean * load * 2_000 / jobs - 1) < 0.06)
  }

  @Test("save in two round trips and a flush")
  func twoRoundTrips() {
    var scenario = scenario(perSecond: 20)
    scenario.readsCaller = false
    var costs = ScaleCosts()
    (costs.roundTrip, costs.flush) = (0.01, 0.02)
    let result = ClusterSimulation.run(scenario, costs)
    #expect((0.04...0.042).contains(result.saveDelay.quantile(0.5)))
    #expect(result.repeatedTransactions < result.transactions / 20)
  }

  @Test("repeat a transaction that lost against another server, and lock first afterwards")
  func repetition() {
    var scenario = scenario(perSecond: 400)
    (scenario.publicShare, scenario.publicDatabases) = (1, 1)
    scenario.isDispatched = false
    var costs = ScaleCosts()
    costs.roundTrip = 0.002
    var repeated: [Int] = []
    for transactions in [0, 64] {
      scenario.cautiousTransactions = transactions
      let result = ClusterSimulation.run(scenario, costs)
      #expect(!result.isOverloaded)
      repeated.append(result.repeatedTransactions)
    }
    #expect(repeated[0] > 100)
    #expect(repeated[1] < repeated[0] / 10)
  }

  @Test("leave a few jobs to a writer at work, which does them in one transaction")
  func fewJobs() {
    var scenario = scenario()
    scenario.shards = 1
    let together = ClusterSimulation.run(scenario, ScaleCosts()).jobsPerTransaction
    scenario.fewJobs = 0
    #expect(together > 1.5 * ClusterSimulation.run(scenario, ScaleCosts()).jobsPerTransaction)
  }

  @Test("take no more saves into one database than its row lets through, however many they are")
  func oneDatabase() {
    var scenario = scenario(perSecond: 20_000)
    (scenario.publicShare, scenario.publicDatabases) = (1, 1)
    scenario.isDispatched = false
    scenario.writesPerCommit = 16
    var costs = ScaleCosts()
    costs.roundTrip = 0.002
    let most = CapacityFormulas(scenario, costs).greatestRateOfOneDatabase
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
    var scenario = scenario(perSecond: 8_000)
    scenario.waitingWrites = 100
    scenario.writersPerServer = 1
    let result = ClusterSimulation.run(scenario, ScaleCosts())
    #expect(result.isOverloaded && result.refused > 1_000)
  }

  @Test("take over the databases of one that died, within the time of a lease and a look")
  func death() throws {
    var scenario = scenario()
    scenario.seconds = 15
    scenario.death = 3
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
