import Foundation

/// `petrel bench save`
enum BenchSaveCommand: Command {
  static let name = "bench save"
  static let summary = "Measures how many records a second the server saves, one in each request."
  static let options: [Arguments.Option] = [
    .init("connections", "LIST", "numbers of connections (default 1,32)"),
    .init("seconds", "SECONDS", "how long each is measured (default 5)"),
    .init("data", "DIRECTORY", "where to write; the disk matters (default .petrel/bench)"),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let connections = try arguments.ints("connections", in: 1...1000) ?? [1, 32]
    let seconds = Double(try arguments.int("seconds", in: 1...3600) ?? 5)
    let directory = arguments.string("data") ?? ".petrel/bench"
    let (server, tokens) = try await ServerProcess.start(in: directory, users: ["bench"])
    defer { server.stop() }
    let yardstick = try DurabilityYardstick.measure(in: directory + "-disk", seconds: 2)
    try? FileManager.default.removeItem(atPath: directory + "-disk")
    Output.line("one record of five fields in each request, SQLite with synchronous=FULL")
    Output.line("yardstick: \(Int(yardstick)) appends of 512 bytes with fdatasync a second")
    Output.line("connections   saves/s      p50        p99       of the yardstick")
    for count in connections {
      let path = EarthquakeRequests.path("records/modify", token: tokens[0], device: "bench")
      // A second to warm up, uncounted.
      _ = try await SaveLoad.run(port: server.port, path: path, connections: count, seconds: 1)
      let times = try await SaveLoad.run(
        port: server.port, path: path, connections: count, seconds: seconds)
      let percentiles = Percentiles(times)
      let rate = Double(times.count) / seconds
      Output.line(
        String(
          format: "%11d  %8.0f  %@  %@  %8.2f", count, rate, percentiles.text(0.5),
          percentiles.text(0.99), rate / yardstick))
    }
    return 0
  }
}
