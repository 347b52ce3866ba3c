import Testing

@testable import ScaleModel

struct CapacityTests {
  @Test("costs come out again of the cases that were made by them")
  func calibration() throws {
    var costs = ScaleCosts()
    costs.transaction = Cost(server: 300e-6, database: 400e-6, logBytes: 900)
    costs.save = Cost(server: 100e-6, database: 60e-6, logBytes: 2_000)
    costs.change = Cost(server: 150e-6, database: 120e-6, logBytes: 1_400)
    costs.catchUp = Cost(server: 700e-6, database: 500e-6, logBytes: 100)
    func measured(
      _ commits: Double, isPaced: Bool, hasSubscriptions: Bool, catchUps: Double = 0
    ) -> MeasuredCase {
      var one = MeasuredCase()
      if catchUps > 0 { one.servers = 2 }
      let changes = hasSubscriptions ? 1.0 : 0
      (one.isPaced, one.hasSubscriptions) = (isPaced, hasSubscriptions)
      (one.commitsPerSave, one.catchUpsPerSave) = (commits, catchUps)
      one.work =
        commits * costs.transaction + costs.save + changes * costs.change
        + catchUps * costs.catchUp
      return one
    }
    let cases = [
      measured(0.2, isPaced: false, hasSubscriptions: false),
      measured(0.9, isPaced: true, hasSubscriptions: false),
      measured(0.5, isPaced: false, hasSubscriptions: true),
      measured(1.8, isPaced: true, hasSubscriptions: true),
      measured(1.9, isPaced: true, hasSubscriptions: true, catchUps: 0.4),
    ]
    let found = try #require(ScaleCosts(calibratedOn: cases))
    func expect(_ path: KeyPath<ScaleCosts, Double>, _ value: Double) {
      #expect(abs(found[keyPath: path] / value - 1) < 0.02, "\(path) \(found[keyPath: path])")
    }
    for part in [\ScaleCosts.transaction, \.save, \.change, \.catchUp] {
      for figure in [\Cost.server, \.database, \.logBytes] {
        expect(part.appending(path: figure), costs[keyPath: part.appending(path: figure)])
      }
    }
    #expect(ScaleCosts(calibratedOn: Array(cases.dropFirst())) == nil)
    #expect(ScaleCosts(calibratedOn: Array(cases.dropLast())) == nil)
  }

  @Test("no part of a sum is below zero")
  func parts() {
    let parts = ScaleCosts.nonnegativeParts([([1, 1], 1), ([2, 1], 4)])
    #expect(parts[1] == 0 && parts[0] > 1)
  }

  @Test("a plan has room for its load, and no more than twice as much as it takes")
  func plan() {
    var scenario = ScaleScenario()
    scenario.arrivals = .random(perSecond: 50_000)
    let plan = CapacityPlan(for: scenario, ScaleCosts(), recordsPerUser: 100, utilization: 0.6)
    (scenario.servers, scenario.shards) = (plan.servers, plan.shards)
    let load = CapacityFormulas(scenario, ScaleCosts()).load(at: 50_000)
    #expect(max(load.serverProcessors, load.writers) <= 0.6)
    #expect(max(load.serverProcessors, load.writers) > 0.3)
    #expect((0.3...0.6).contains(load.shardProcessors))
    #expect(load.logBandwidth <= 0.6)
    #expect(plan.indexBytes <= scenario.indexBytes * Double(plan.servers))
  }
}
