import Foundation

/// The benchmark of the rate of pushes through a ``PushPipeline``. Until the peer has accepted a
/// push, a row in a store on disk describes its delivery.
struct PushQueueBenchmark {
  /// The number of pushes to send. It is rounded down to the pushes of a whole number of records.
  var pushes: Int
  var connections: Int
  var directory: String
  var report: BenchmarkReport

  /// The most subscriptions that one record fires, and so the most devices.
  private static let greatestDevices = 20_000

  /// Measures, and reports the rate and its ratio to the rate without the queue.
  ///
  /// - Parameter memoryRate: The pushes a second of ``PushBenchmark``.
  func run(at peer: PushPeer, beside memoryRate: Double) async throws {
    BenchmarkFolder.remove(directory)
    defer { BenchmarkFolder.remove(directory) }
    let devices = min(pushes, Self.greatestDevices)
    let records = max(1, pushes / devices)
    let pipeline = try await PushPipeline(
      in: directory, devices: devices, connections: connections, to: peer, report: report)
    let before = ProcessTime.seconds(of: getpid())
    let seconds = try await pipeline.push(records: records)
    let count = records * devices
    let rate = Double(count) / seconds
    let processor = (ProcessTime.seconds(of: getpid()) - before) * 1e6 / Double(count)
    await pipeline.stop()
    report.set([
      "durable": [
        "pushes": .figure(count), "records": .figure(records), "seconds": .figure(seconds),
        "pushesPerSecond": .figure(rate), "processorMicrosecondsPerPush": .figure(processor),
        "ratioToMemory": .figure(rate / memoryRate), "events": pipeline.timeline.figures,
      ]
    ])
    report.line(
      String(
        format: "%d pushes of %d records through the queue on disk in %.2f s: %.0f pushes/s, "
          + "%.2f us processor a push, %.2f of those through memory", count, records, seconds, rate,
        processor, rate / memoryRate))
    for mark in pipeline.timeline.marks where !mark.name.hasSuffix("accepted") || mark.isEnd {
      report.line(String(format: "%8.3f s  ", mark.seconds) + mark.name)
    }
  }
}

extension PushTimeline.Mark {
  /// Whether the event is the first or the last accepted push.
  fileprivate var isEnd: Bool { name.hasSuffix("push accepted") }
}
