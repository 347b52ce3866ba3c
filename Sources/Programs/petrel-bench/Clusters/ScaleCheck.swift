import CommandInterface
import Foundation
import JSONCoding
import ScaleModel

/// Simulates what was measured, and compares.
struct ScaleCheck {
  let counts: ScaleCounts
  let costs: ScaleCosts
  let writers: Int
  let report: BenchmarkReport

  /// How far a simulated rate may be from the measured one, and how many times greater or smaller a
  /// time may be: the median of a save, and where saves come evenly the mean from a save to the log, whose
  /// median lies between what the saving server dispatches itself and what another does.
  static let rateTolerance = 0.3
  static let timeFactor = 2.5

  /// Tells a line for each case; false when a prediction is out of the tolerance.
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

  private func isWithinTolerance(_ measured: MeasuredCase, _ result: ScaleResult) -> Bool {
    let rate = result.savesPerSecond / measured.savesPerSecond
    guard abs(rate - 1) <= Self.rateTolerance else { return false }
    // What waits at full load has no length of its own: it grows as long as there is load.
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
