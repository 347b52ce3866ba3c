import CommandInterface
import Foundation
import JSONCoding
import ScaleModel

/// A comparison of the model with measurements: it simulates each measured case.
struct ScaleCheck {
  /// The measured cases.
  let counts: ScaleCounts
  /// The costs, calibrated on some of the cases.
  let costs: ScaleCosts
  /// The writer threads of each server.
  let writers: Int
  let report: BenchmarkReport

  /// The greatest relative difference between a simulated and a measured rate.
  static let rateTolerance = 0.3
  /// The greatest factor between a simulated and a measured time.
  ///
  /// Two times are compared: the median of a save, and, for evenly paced saves, the mean from a
  /// save to the log. The median to the log is unsuitable: it lies between two groups, the changes
  /// that the saving server dispatches itself and the others.
  static let timeFactor = 2.5

  /// Simulates each case and reports it.
  ///
  /// - Returns: Whether all cases that were not used for the calibration are within the tolerance.
  func run() -> Bool {
    report.line(
      "servers  load  subscr.  used for     saves/s  simulated   save p50  simulated  logged mean"
        + "  simulated")
    let calibrating = Set(ScaleCosts.calibrating(counts.cases))
    var isRight = true
    for (place, measured) in counts.cases.enumerated() {
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

  /// Returns whether the simulated rate and times are near enough to the measured ones.
  private func isWithinTolerance(_ measured: MeasuredCase, _ result: ScaleResult) -> Bool {
    let rate = result.savesPerSecond / measured.savesPerSecond
    guard abs(rate - 1) <= Self.rateTolerance else { return false }
    // At full load the queue of changes grows as long as the load lasts, so its delay depends only
    // on the length of the run.
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
