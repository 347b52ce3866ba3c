import Foundation

/// Pushes from the payload through memory and `APNsClient` to a peer, beside `h2load` with the same
/// requests and the same peer, in turns.
struct PushBenchmark {
  var pushes: Int
  var connections: Int
  var turns: Int

  /// - Returns: pushes a second, the median of the turns.
  @discardableResult
  func run(at peer: PushPeer) async throws -> Double {
    var lines: [PushLine] = []
    for _ in 0..<connections { lines.append(try PushLine(to: peer)) }
    Output.line(
      "\(pushes) pushes a turn over \(connections) connection(s) to nghttpd, h2load over one")
    Output.line("pushes/s  processor a push        p50        p99  h2load/s  of h2load's")
    // Opens the connections.
    _ = try await send(max(connections, pushes / 20), over: lines)
    var source = PushSource()
    let sample = source.push(0)
    let yardstick = H2LoadYardstick(peer: peer)
    var rates: [Double] = []
    var ratios: [Double] = []
    for _ in 0..<turns {
      let other = try await yardstick.rate(pushes, like: sample)
      let before = ProcessTime.seconds(of: getpid())
      let start = monotonicSeconds()
      let delays = try await send(pushes, over: lines)
      let rate = Double(pushes) / (monotonicSeconds() - start)
      let processor = (ProcessTime.seconds(of: getpid()) - before) * 1e6 / Double(pushes)
      rates.append(rate)
      ratios.append(rate / other)
      Output.line(
        String(format: "%8.0f  %13.2f us", rate, processor)
          + "  \(delays.text(0.5).leftPadding(to: 9))  \(delays.text(0.99).leftPadding(to: 9))"
          + String(format: "  %8.0f  %11.2f", other, rate / other))
    }
    for line in lines { await line.close() }
    let median = Percentiles(rates).quantile(0.5)
    Output.line(
      String(
        format: "median %.0f pushes/s, %.2f of h2load's requests", median,
        Percentiles(ratios).quantile(0.5)))
    return median
  }

  private func send(_ count: Int, over lines: [PushLine]) async throws -> Percentiles {
    try await withThrowingTaskGroup(of: [Double].self) { group in
      for (index, line) in lines.enumerated() {
        let share = count * index / lines.count..<count * (index + 1) / lines.count
        group.addTask { try await onThread { try line.send(share) } }
      }
      return Percentiles(try await group.reduce(into: []) { $0 += $1 })
    }
  }
}
