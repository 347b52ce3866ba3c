import CommandInterface
import Foundation

/// The benchmark of the rate at which `APNsClient` sends pushes to a peer. The pushes come from
/// memory, not from a store.
///
/// The benchmark takes turns with `h2load` (``H2LoadBaseline``), which sends similar requests to
/// the same peer.
struct PushBenchmark {
  var pushes: Int
  var connections: Int
  /// The number of turns. Each turn measures h2load and then the client.
  var turns: Int
  var report: BenchmarkReport

  /// Returns the client's pushes a second: the median over the turns.
  @discardableResult
  func run(at peer: PushPeer) async throws -> Double {
    let line = try PushLine(to: peer, connections: connections)
    report.line("\(pushes) pushes a turn to nghttpd, as many of h2load over one connection")
    report.line("pushes/s  processor a push        p50        p99  h2load/s  of h2load's")
    // The first pushes open the connection and are not counted.
    _ = try await onThread { [pushes] in try line.send(0..<pushes / 20) }
    var source = PushSource()
    let sample = source.push(0)
    let baseline = H2LoadBaseline(peer: peer)
    var rates: [Double] = []
    var ratios: [Double] = []
    for _ in 0..<turns {
      let other = try await baseline.rate(pushes, like: sample)
      let before = ProcessTime.seconds(of: getpid())
      let start = monotonicSeconds()
      let delays = Percentiles(
        try await onThread { [pushes] in try line.send(0..<pushes) })
      let rate = Double(pushes) / (monotonicSeconds() - start)
      let processor = (ProcessTime.seconds(of: getpid()) - before) * 1e6 / Double(pushes)
      rates.append(rate)
      ratios.append(rate / other)
      report.row(
        "measurements",
        [
          "pushesPerSecond": .figure(rate), "processorMicrosecondsPerPush": .figure(processor),
          "baselineRequestsPerSecond": .figure(other),
          "ratioToBaseline": .figure(rate / other),
        ], delays.figures())
      report.line(
        String(format: "%8.0f  %13.2f us", rate, processor)
          + "  \(delays.text(0.5).leftPadding(to: 9))  \(delays.text(0.99).leftPadding(to: 9))"
          + String(format: "  %8.0f  %11.2f", other, rate / other))
    }
    let opened = line.connections
    await line.close()
    let median = Percentiles(rates).quantile(0.5)
    report.set([
      "pushes": .figure(pushes), "connections": .figure(opened),
      "medianPushesPerSecond": .figure(median),
      "medianRatioToBaseline": .figure(Percentiles(ratios).quantile(0.5)),
    ])
    report.line(
      String(
        format: "median %.0f pushes/s over %d connection(s), %.2f of h2load's requests", median,
        opened, Percentiles(ratios).quantile(0.5)))
    return median
  }
}
