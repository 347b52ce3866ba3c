import Testing

@testable import ScaleModel

struct CapacityTests {
  @Test("costs come out again of the cases that were made by them")
  func calibration() throws {
    var costs = ScaleCosts()
    costs.statements = .init(transaction: 5, save: 8, dispatch: 6)
    func measured(
      _ commits: Double, isPaced: Bool, hasSubscriptions: Bool, servers: Int = 1
    ) -> MeasuredCase {
      var one = MeasuredCase()
      one.servers = servers
      let changes = hasSubscriptions ? 1.0 : 0
      (one.isPaced, one.hasSubscriptions) = (isPaced, hasSubscriptions)
      one.commitsPerSave = commits
      let others = 1 - 1 / Double(servers)
      one.statementsPerSave = 5 * commits + 12 + 10 * changes + 9 * others
      one.logBytesPerSave = 300 * commits + 3_000 + 1_500 * changes
      one.serverSeconds = 60e-6 + 10e-6 * one.statementsPerSave
      one.postgreSQLSeconds = 25e-6 * one.statementsPerSave
      if isPaced {
        one.serverSeconds += 6e-6 * one.statementsPerSave
        one.postgreSQLSeconds += 9e-6 * one.statementsPerSave
      }
      one.flushSeconds = 200e-6
      let each = (one.statementsPerSave - 4) / commits
      one.loggedMean = hasSubscriptions ? 0.002 + (0.08 + 9 * 50e-6) * others : .nan
      one.commitSeconds = 200e-6 + each * (10e-6 + 25e-6 + 15e-6 + 30e-6)
      return one
    }
    let cases = [
      measured(0.2, isPaced: false, hasSubscriptions: false),
      measured(1, isPaced: true, hasSubscriptions: false),
      measured(1.1, isPaced: false, hasSubscriptions: true),
      measured(2, isPaced: true, hasSubscriptions: true),
      measured(2, isPaced: true, hasSubscriptions: true, servers: 2),
    ]
    let found = try #require(ScaleCosts(calibratedOn: cases))
    func expect(_ path: KeyPath<ScaleCosts, Double>, _ value: Double) {
      #expect(abs(found[keyPath: path] / value - 1) < 0.02, "\(path) \(found[keyPath: path])")
    }
    expect(\.statements.transaction, 5)
    expect(\.statements.save, 8)
    expect(\.statements.dispatch, 6)
    expect(\.request, 60e-6)
    expect(\.serverStatement, 10e-6)
    expect(\.databaseStatement, 25e-6)
    expect(\.serverWaking, 6e-6)
    expect(\.databaseWaking, 9e-6)
    expect(\.notificationStatements, 9)
    expect(\.wakeUp, 0.08)
    expect(\.saveLogBytes, 3_000)
    expect(\.roundTrip, 30e-6)
    #expect(ScaleCosts(calibratedOn: Array(cases.dropFirst())) == nil)
  }

  @Test("what every case has alike is told apart by what is known of it")
  func knownPart() throws {
    let cases = [(false, false), (true, false), (false, true)].map { isPaced, hasSubscriptions in
      var one = MeasuredCase()
      (one.isPaced, one.hasSubscriptions, one.commitsPerSave) = (isPaced, hasSubscriptions, 1)
      one.statementsPerSave = hasSubscriptions ? 32 : 18
      one.logBytesPerSave = 2_000
      return one
    }
    let found = try #require(ScaleCosts(calibratedOn: cases))
    #expect(found.statements.transaction == ScaleCosts().statements.transaction)
    #expect(abs(found.statements.save - 10) < 0.1 && abs(found.statements.dispatch - 10) < 0.1)
    #expect(abs(found.saveLogBytes - 1_700) < 10)
  }

  @Test("no part of a sum is below zero")
  func parts() {
    let parts = ScaleCosts.nonnegativeParts([([1, 1], 1), ([2, 1], 4)])
    #expect(parts[1] == 0 && parts[0] > 1)
  }

  @Test("a plan has room for its load, and no more than twice as much as it takes")
  func plan() {
    var scenario = ScaleScenario()
    scenario.setRate(20_000)
    let plan = CapacityPlan(for: scenario, ScaleCosts(), recordsPerUser: 100, utilization: 0.6)
    scenario.servers = plan.servers
    scenario.shards = plan.shards
    let load = CapacityFormulas(scenario, ScaleCosts()).load(at: 20_000)
    #expect(load.server <= 0.62 && load.shard <= 0.62)
    #expect(plan.indexBytesPerServer <= scenario.indexBytes)
    #expect(CapacityFormulas(scenario, ScaleCosts()).greatestRate() > 20_000)
  }

  @Test("indexes are warm where there is memory for all, and in part where there is not")
  func warmth() {
    var scenario = ScaleScenario()
    scenario.servers = 2
    scenario.subscriptions = 1_000_000
    #expect(scenario.warmShare(ScaleCosts()) == 1)
    scenario.subscriptions = 1_000_000_000
    let sticky = scenario.warmShare(ScaleCosts())
    scenario.isSticky = false
    #expect(sticky < 1 && scenario.warmShare(ScaleCosts()) <= sticky)
  }
}
