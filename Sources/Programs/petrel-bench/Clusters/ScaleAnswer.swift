import CommandInterface
import Foundation
import JSONCoding
import ScaleModel

/// The report of `petrel-bench simulate`: the number of machines for a load, their utilization at
/// several rates, the highest rates, and the effect of a server's crash. A *shard* is a machine
/// with a part of the store's PostgreSQL.
struct ScaleAnswer {
  var scenario: ScaleScenario
  let costs: ScaleCosts
  let plan: CapacityPlan
  let report: BenchmarkReport

  /// The simulation results that ``ScalePlot`` draws.
  struct Curves {
    /// For each rate in saves a second, the result of the simulation, and the load that the
    /// formulas compute.
    var points: [(rate: Double, result: ScaleResult, load: CapacityFormulas.Load)] = []
    /// The result of the simulation in which a server crashes; `nil` with one server.
    var death: ScaleResult?
    /// The second of the simulation at which the server crashes.
    var deathSecond = 0.0
  }

  /// The simulated rates, as fractions of the requested rate.
  private static let parts = [0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]

  func run() -> Curves {
    printPlan()
    var curves = Curves()
    printSweep(&curves)
    printLimits()
    printDeath(&curves)
    return curves
  }

  private func printPlan() {
    let gigabyte = 1e9
    report.line(
      String(
        format:
          "%.0f saves a second of %.0f million users with %.0f million subscriptions, "
          + "%.1f notifications a save, %.1f pushes a notification",
        scenario.rate, Double(scenario.users) / 1e6, Double(scenario.subscriptions) / 1e6,
        CapacityFormulas(scenario, costs).firings, scenario.pushes))
    report.line(
      "\(plan.servers.counting("server")) of \(scenario.coresPerServer) cores, "
        + "\(plan.shards.counting("shard")) of \(scenario.coresPerShard) cores")
    report.line(
      String(
        format: "indexes %.1f GB, %.2f GB on each server; log %.1f TB a day; store %.1f TB",
        plan.indexBytes / gigabyte, plan.indexBytes / Double(plan.servers) / gigabyte,
        plan.logBytesPerDay / 1e12, plan.storedBytes / 1e12))
    report.set([
      "savesPerSecond": .figure(scenario.rate), "users": .figure(scenario.users),
      "subscriptions": .figure(scenario.subscriptions), "servers": .figure(plan.servers),
      "shards": .figure(plan.shards), "indexBytes": .figure(plan.indexBytes),
      "logBytesPerDay": .figure(plan.logBytesPerDay), "storedBytes": .figure(plan.storedBytes),
    ])
  }

  private func printSweep(_ curves: inout Curves) {
    report.line(
      "  saves/s  answered  dispatched   save p50        p99  logged p50        p99  servers (formula)"
        + "  shards (formula)   row  saves/commit  repeated")
    let progress = ProgressLine()
    for part in Self.parts {
      var scenario = scenario
      scenario.arrivals = .random(perSecond: self.scenario.rate * part)
      progress.show("simulating \(Int(scenario.rate)) saves a second")
      let result = ClusterSimulation.run(scenario, costs)
      progress.end()
      let load = CapacityFormulas(scenario, costs).load(at: scenario.rate)
      curves.points.append((scenario.rate, result, load))
      show(scenario.rate, result, load)
    }
  }

  private func show(_ rate: Double, _ result: ScaleResult, _ load: CapacityFormulas.Load) {
    func delay(_ delays: DelayHistogram, _ share: Double, _ width: Int) -> String {
      String(format: "%.1f ms", delays.quantile(share) * 1000).leftPadding(to: width)
    }
    let repeated =
      Double(result.repeatedTransactions) / Double(max(1, result.transactions))
    report.line(
      String(
        format: "%9.0f  %8.0f  %10.0f", rate, result.savesPerSecond, result.dispatchedPerSecond)
        + delay(result.saveDelay, 0.5, 11) + delay(result.saveDelay, 0.99, 11)
        + delay(result.dispatchDelay, 0.5, 12) + delay(result.dispatchDelay, 0.99, 11)
        + String(
          format: "  %7.2f    %6.2f  %6.2f    %6.2f  %4.2f  %12.1f  %8.2f",
          result.serverUtilization, load.serverProcessors, result.shardUtilization,
          load.shardProcessors, result.lockUtilization, result.jobsPerTransaction, repeated)
        + (result.isOverloaded ? "  overloaded" : ""))
    report.row(
      "sweep",
      [
        "savesPerSecond": .figure(rate), "answeredPerSecond": .figure(result.savesPerSecond),
        "dispatchedPerSecond": .figure(result.dispatchedPerSecond),
        "saveP50Milliseconds": .figure(result.saveDelay.quantile(0.5) * 1000),
        "saveP99Milliseconds": .figure(result.saveDelay.quantile(0.99) * 1000),
        "loggedP50Milliseconds": .figure(result.dispatchDelay.quantile(0.5) * 1000),
        "loggedP99Milliseconds": .figure(result.dispatchDelay.quantile(0.99) * 1000),
        "serverUtilization": .figure(result.serverUtilization),
        "serverUtilizationByFormula": .figure(load.serverProcessors),
        "shardUtilization": .figure(result.shardUtilization),
        "shardUtilizationByFormula": .figure(load.shardProcessors),
        "busiestDatabaseLocked": .figure(result.lockUtilization),
        "jobsPerTransaction": .figure(result.jobsPerTransaction),
        "repeatedTransactions": .figure(repeated),
        "waitingAtEnd": .figure(result.waitingChangesAtEnd),
        "isOverloaded": .bool(result.isOverloaded), "events": .figure(result.events),
      ])
  }

  private func printLimits() {
    let formulas = CapacityFormulas(scenario, costs)
    let most = formulas.greatestRate
    let resources = formulas.load(at: most).resources
    report.line(
      String(
        format: "the formulas predict saturation at %.0f saves a second, with these utilizations:",
        most))
    for resource in resources {
      report.line(
        "  " + resource.name.padding(to: 40) + String(format: "%5.2f", resource.utilization))
    }
    let one = formulas.greatestRateOfOneDatabase
    func locked(_ saves: Int) -> Double { formulas.lockSeconds(saves: saves) * 1000 }
    report.line(
      String(
        format:
          "a public database accepts at most %.0f saves a second from any number of servers: a "
          + "transaction of %d saves locks its row for %.1f ms, one of a single save for %.2f ms",
        one, scenario.writesPerCommit, locked(scenario.writesPerCommit), locked(1)))
    report.set([
      "greatestSavesPerSecond": .figure(most),
      "firstSaturated": .string(resources.first?.name ?? ""),
      "greatestSavesPerSecondOfOneDatabase": .figure(one),
      "lockMillisecondsOfOneSave": .figure(locked(1)),
      "lockMillisecondsOfManySaves": .figure(locked(scenario.writesPerCommit)),
    ])
  }

  /// Simulates a server's crash in the fourth second of a run of 16 seconds, and reports the
  /// recovery. The method does nothing if the plan has one server.
  private func printDeath(_ curves: inout Curves) {
    guard scenario.servers > 1 else { return }
    var scenario = scenario
    scenario.warmUpSeconds = 2
    scenario.seconds = 14
    let second = 4.0
    scenario.death = second
    let progress = ProgressLine()
    progress.show("simulating the crash of a server")
    let result = ClusterSimulation.run(scenario, costs)
    progress.end()
    curves.death = result
    curves.deathSecond = second
    guard let recovery = result.recovery else { return }
    report.line(
      String(
        format:
          "a server crashes: clients send %d saves again; dispatch of its private databases resumes "
          + "after %.1f s, of the public ones after %.1f s%@; at most %d changes wait in %d databases",
        recovery.repeatedSaves, recovery.privateSeconds, recovery.publicSeconds,
        recovery.isComplete ? "" : " and more", recovery.deepest, recovery.databases))
    report.set([
      "deathPrivateSeconds": .figure(recovery.privateSeconds),
      "deathPublicSeconds": .figure(recovery.publicSeconds),
      "deathWaitingChanges": .figure(recovery.deepest),
      "deathDatabases": .figure(recovery.databases),
      "deathRepeatedSaves": .figure(recovery.repeatedSaves),
      "deathIsOver": .bool(recovery.isComplete),
    ])
  }
}
