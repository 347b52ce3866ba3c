import CommandInterface
import Foundation
import JSONCoding
import ScaleModel

/// A comparison of the model in `ScaleModel` with measurements. It simulates each measured case,
/// and compares the rates and times.
struct ScaleCheck {
  let counts: ScaleCounts
  /// The costs of operations, computed from some of the cases: the calibration cases.
  let costs: ScaleCosts
  /// The number of writing threads of each server.
  let writers: Int
  let report: BenchmarkReport

  /// The greatest permitted difference between a simulated and a measured rate, as a fraction of
  /// the measured rate.
  static let rateTolerance = 0.3
  /// The greatest permitted factor between a simulated and a measured time.
  ///
  /// The check compares the median time of a save. For evenly paced saves, it also compares the
  /// mean time from a save to its log entry. The median of that time is unsuitable, because it lies
  /// between two groups: changes that the saving server dispatches itself, and changes that another
  /// server dispatches.
  static let timeFactor = 2.5

  /// Returns whether all cases except the calibration cases are within the tolerance.
  func run() -> Bool {
    report.line(
      "servers  load  subscr.  used for     saves/s  simulated   save p50  simulated  logged mean"
        + "  simulated")
    let calibrating = Set(ScaleCosts.calibrating(counts.cases))
    var isRight = true
    for (place, measured) in counts.cases.enumerated() {
      var costs = costs
      // The disk is a condition of the measurement, and was not equally fast in all cases.
      costs.flush = measured.flushSeconds
      let result = ClusterSimulation.run(
        ScaleScenario(
          of: measured, databases: counts.databases, publicShare: counts.publicShare,
          cores: counts.cores, writers: writers), costs)
      let isCalibrating = calibrating.contains(place)
      let isWithin = isWithinTolerance(measured, result)
      if !isCalibrating, !isWithin { isRight = false }
      func text(_ seconds: Double) -> String {
        (seconds.isFinite ? String(format: "%.2f ms", seconds * 1000) : "-").leftPadding(to: 9)
      }
      report.line(
        "\(measured.servers)".leftPadding(to: 7) + "  "
          + (measured.isPaced ? "even" : "full") + "  "
          + (measured.hasSubscriptions ? "yes" : "no").leftPadding(to: 7) + "  "
          + (isCalibrating ? "calibrating" : "checking").padding(to: 11)
          + String(format: "  %7.0f  %9.0f", measured.savesPerSecond, result.savesPerSecond)
          + "  \(text(measured.saveMedian))  \(text(result.saveDelay.quantile(0.5)))"
          + "  \(text(measured.loggedMean).leftPadding(to: 11))"
          + "  \(text(result.dispatchDelay.mean))" + (isWithin ? "" : "  out of tolerance")
      )
      report.row(
        "check",
        [
          "servers": .figure(measured.servers), "isPaced": .bool(measured.isPaced),
          "hasSubscriptions": .bool(measured.hasSubscriptions),
          "isCalibrating": .bool(isCalibrating), "isWithinTolerance": .bool(isWithin),
          "measuredSavesPerSecond": .figure(measured.savesPerSecond),
          "simulatedSavesPerSecond": .figure(result.savesPerSecond),
          "measuredSaveP50Milliseconds": .figure(measured.saveMedian * 1000),
          "simulatedSaveP50Milliseconds": .figure(result.saveDelay.quantile(0.5) * 1000),
          "measuredLoggedMeanMilliseconds": .figure(measured.loggedMean * 1000),
          "simulatedLoggedMeanMilliseconds": .figure(result.dispatchDelay.mean * 1000),
        ])
    }
    report.line(
      String(
        format: "tolerance: rates within %.0f %%, times within a factor of %.1f",
        Self.rateTolerance * 100, Self.timeFactor))
    return isRight
  }

  /// Returns whether the simulated rate and times are within the tolerance. A time that was not
  /// measured is left out.
  private func isWithinTolerance(_ measured: MeasuredCase, _ result: ScaleResult) -> Bool {
    let rate = result.savesPerSecond / measured.savesPerSecond
    guard abs(rate - 1) <= Self.rateTolerance else { return false }
    // At full load, the queue of changes grows until the load ends. The time to the log then
    // depends only on the length of the run, so it is not compared.
    let times = [
      (measured.saveMedian, result.saveDelay.quantile(0.5)),
      measured.isPaced
        ? (measured.loggedMean, result.dispatchDelay.mean) : (.nan, .nan),
    ]
    return times.allSatisfy { measured, simulated in
      guard measured.isFinite, simulated.isFinite else { return true }
      return simulated / measured <= Self.timeFactor && measured / simulated <= Self.timeFactor
    }
  }
}
