import Foundation

/// `petrel bench save`
enum BenchSaveCommand: Command {
  static let name = "bench save"
  static let summary = "Measures how many records a second the server saves."
  static let options: [Arguments.Option] = [
    .init("connections", "LIST", "numbers of connections for single records (default 1,32)"),
    .init("batch", "NUMBER", "records in each request of the last row (default 200)"),
    .init("seconds", "SECONDS", "how long each is measured (default 5)"),
    .init("rounds", "NUMBER", "turns that each server takes beside another (default 3)"),
    .init("beside", "pocketbase", "measure PocketBase in the same run, in turns"),
    .init("pocketbase", "PATH", "its program (default pocketbase, looked for in PATH)"),
    .init("data", "DIRECTORY", "where to write; the disk matters (default .petrel/bench)"),
  ]

  /// Connections that send batches.
  private static let batchConnections = 8

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let connections = try arguments.ints("connections", in: 1...1000) ?? [1, 32]
    let batch = try arguments.int("batch", in: 1...400) ?? 200
    let seconds = Double(try arguments.int("seconds", in: 1...3600) ?? 5)
    let directory = arguments.string("data") ?? ".petrel/bench"
    let rival = try startRival(arguments, in: directory + "-pocketbase")
    defer { rival?.stop() }
    let (server, tokens) = try await ServerProcess.start(in: directory, users: ["bench"])
    defer { server.stop() }
    let own = try prepare(server, token: tokens[0])
    let yardstick = try DurabilityYardstick.measure(in: directory + "-disk", seconds: 2)
    try? FileManager.default.removeItem(atPath: directory + "-disk")
    Output.line("records of three indexed fields, SQLite with synchronous=FULL")
    Output.line("yardstick: \(Int(yardstick)) appends of 512 bytes with fdatasync a second")
    Output.line(SaveContest.heading)
    let rounds = rival == nil ? 1 : try arguments.int("rounds", in: 1...100) ?? 3
    for count in connections {
      var contest = SaveContest(connections: count, records: 1)
      try await contest.run(
        [own] + (rival.map { [PocketBaseSaves(port: $0.port, process: $0.identifier)] } ?? []),
        rounds: rounds,
        seconds: seconds)
      contest.report(yardstick: yardstick)
    }
    var contest = SaveContest(connections: batchConnections, records: batch)
    try await contest.run([own], rounds: 1, seconds: seconds)
    contest.report(yardstick: yardstick)
    return 0
  }

  private static func startRival(
    _ arguments: Arguments, in directory: String
  ) throws -> PocketBaseProcess? {
    switch arguments.string("beside") {
    case nil: return nil
    case "pocketbase":
      return try PocketBaseProcess.start(
        program: arguments.string("pocketbase") ?? "pocketbase", in: directory)
    case let other?: throw UsageError("--beside knows pocketbase only, not '\(other)'")
    }
  }

  /// Makes the zone that the records go to.
  private static func prepare(
    _ server: ServerProcess, token: String
  ) throws -> any SaveTarget {
    try LoadConnection(port: server.port).post(
      EarthquakeRequests.path(
        "zones/modify", scope: "private", token: token, device: "bench"),
      Array(
        #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Bench"}}}]}"#.utf8)
    )
    return PetrelSaves(
      port: server.port, process: server.identifier,
      path: EarthquakeRequests.path(
        "records/modify", scope: "private", token: token, device: "bench"))
  }
}
