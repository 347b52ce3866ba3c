/// One thing that must stay as it is while a server runs, and how far it may go.
struct SoakFigure: Sendable {
  var name: String
  var unit: String
  var value: @Sendable (SoakSample) -> Double
  /// Times the earlier figure that the later one may be, and how much more.
  var factor: Double
  var slack: Double

  static let all = [
    SoakFigure(
      name: "memory", unit: "MB", value: { Double($0.residentBytes) / 1e6 }, factor: 1.1, slack: 10),
    SoakFigure(
      name: "descriptors", unit: "", value: { Double($0.descriptors) }, factor: 1, slack: 8),
    SoakFigure(name: "threads", unit: "", value: { Double($0.threads) }, factor: 1, slack: 8),
    SoakFigure(
      name: "store", unit: "MB", value: { Double($0.storeBytes) / 1e6 }, factor: 1.1, slack: 5),
    SoakFigure(
      name: "log", unit: "MB", value: { Double($0.logBytes) / 1e6 }, factor: 0,
      slack: 4.4 * Double(SoakTrial.logMegabytes << 20) / 1e6),
    SoakFigure(
      name: "answer p50", unit: "ms", value: { $0.answerMedian * 1e3 }, factor: 1.5, slack: 5),
    SoakFigure(
      name: "answer p99", unit: "ms", value: { $0.answer99 * 1e3 }, factor: 2, slack: 50),
    SoakFigure(
      name: "save to push p50", unit: "ms", value: { $0.pushMedian * 1e3 }, factor: 1.5, slack: 10),
    SoakFigure(
      name: "save to push p99", unit: "ms", value: { $0.push99 * 1e3 }, factor: 2, slack: 100),
  ]

  /// The median of the figure in the second quarter of the time, when all is warm, and in the last.
  func change(in samples: [SoakSample]) -> (early: Double, late: Double) {
    let values = samples.map(value)
    func median(_ range: Range<Int>) -> Double {
      let sorted = values[range].sorted()
      return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }
    let quarter = values.count / 4
    return (median(quarter..<2 * quarter), median((values.count - quarter)..<values.count))
  }

  func isFlat(in samples: [SoakSample]) -> Bool {
    let (early, late) = change(in: samples)
    return late <= early * factor + slack
  }
}
