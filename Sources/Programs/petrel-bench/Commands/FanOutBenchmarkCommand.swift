import CommandInterface
import Foundation

/// The command `petrel-bench fanout`. It saves one record that fires a subscription of each user,
/// and measures when the pushes to all their devices are accepted. The pushes go through a
/// ``PushPipeline``.
struct FanOutBenchmarkCommand: Command {
  let name = "fanout"
  let example = "petrel-bench fanout"
  let summary = "Measures how long one record takes to the devices of all its subscribers."
  let options: [Arguments.Option] = [
    .init(
      "devices", "NUMBER", "devices, of as many users with a subscription each (default 1000000)"),
    .init("connections", "NUMBER", "connections that may be opened for the pushes (default 1)"),
    .init("data", "DIRECTORY", "where to write; the disk matters (default .petrel/bench)"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let devices = try arguments.int("devices", in: 1...10_000_000) ?? 1_000_000
    let connections = try arguments.int("connections", in: 1...64) ?? 1
    let directory = arguments.string("data") ?? ".petrel/bench"
    BenchmarkFolder.remove(directory)
    defer { BenchmarkFolder.remove(directory) }
    let report = BenchmarkReport("fanout", arguments)
    let peer = try await PushPeer.start()
    defer { peer.stop() }
    let pipeline = try await PushPipeline(
      in: directory, devices: devices, connections: connections, to: peer, report: report)
    let resident = ProcessMemory.resident(of: getpid())
    let seconds = try await pipeline.push(records: 1)
    await pipeline.stop()
    report.set([
      "devices": .figure(devices), "connections": .figure(connections),
      "residentBeforeBytes": .figure(resident), "events": pipeline.timeline.figures,
      "pushesPerSecond": .figure(Double(devices) / seconds),
    ])
    report.line("     time  resident")
    report.line(String(format: "%7.3f s  %5d MB  before", 0.0, resident >> 20))
    for mark in pipeline.timeline.marks {
      report.line(
        String(format: "%7.3f s  %5d MB  ", mark.seconds, mark.resident >> 20) + mark.name)
    }
    report.line(String(format: "%.0f pushes/s from the save", Double(devices) / seconds))
    report.end()
    return 0
  }
}
