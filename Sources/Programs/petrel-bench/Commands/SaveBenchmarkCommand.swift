import CloudKitModel
import CommandInterface
import Foundation
import ServerHosting

/// The command `petrel-bench save`. It measures the records a second that the server saves. The
/// baseline is the rate of durable appends to a file. With `--beside pocketbase`, it also measures
/// PocketBase.
struct SaveBenchmarkCommand: Command {
  let name = "save"
  let example = "petrel-bench save"
  let summary = "Measures how many records a second the server saves."
  let options: [Arguments.Option] = [
    .init("connections", "LIST", "numbers of connections for single records (default 1,32)"),
    .init("batch", "NUMBER", "records in each request of the batches (default 200)"),
    .init("batch-connections", "LIST", "numbers of connections for batches (default 8,32)"),
    .init("seconds", "SECONDS", "how long each is measured (default 5)"),
    .init("rounds", "NUMBER", "turns of each server, alternating with the other (default 3)"),
    .init("beside", "pocketbase", "measures PocketBase in the same run, in turns"),
    .init("pocketbase", "PATH", "the program of PocketBase (default pocketbase, in PATH)"),
    .init("data", "DIRECTORY", "where to write; the disk matters (default .petrel/bench)"),
    BenchmarkReport.option,
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let connections = try arguments.ints("connections", in: 1...1000) ?? [1, 32]
    let batch = try arguments.int("batch", in: 1...400) ?? 200
    let batchConnections = try arguments.ints("batch-connections", in: 1...1000) ?? [8, 32]
    let seconds = Double(try arguments.int("seconds", in: 1...3600) ?? 5)
    let directory = arguments.string("data") ?? ".petrel/bench"
    let rival = try Self.startRival(arguments, in: directory + "-pocketbase")
    defer { rival?.stop() }
    let (server, tokens) = try await ServerProcess.start(in: directory, users: ["bench"])
    defer { server.stop() }
    try await Self.prepare(server, token: tokens[0])
    let own = Self.target("petrel", server, token: tokens[0], recordType: Self.plainType)
    let searchable = Self.target("with words", server, token: tokens[0], recordType: Self.wordType)
    let others = rival.map { [PocketBaseSaves(port: $0.port, process: $0.identifier)] } ?? []
    let baseline = try DurabilityBaseline.measure(in: directory + "-disk", seconds: 2)
    BenchmarkFolder.remove(directory + "-disk")
    let report = BenchmarkReport("save", arguments)
    report.set(["baselineAppendsPerSecond": .figure(baseline)])
    report.line("records of three indexed fields, SQLite with synchronous=FULL")
    report.line("baseline: \(Int(baseline)) appends of 512 bytes with fdatasync a second")
    report.line(SaveContest.heading)
    func measure(
      _ targets: [any SaveTarget], connections: Int, records: Int, rounds: Int = 1
    ) async throws {
      var contest = SaveContest(connections: connections, records: records)
      try await contest.run(targets, rounds: rounds, seconds: seconds)
      contest.show(report, baseline: baseline)
    }
    let rounds = rival == nil ? 1 : try arguments.int("rounds", in: 1...100) ?? 3
    for count in connections {
      try await measure([own] + others, connections: count, records: 1, rounds: rounds)
    }
    for count in batchConnections {
      try await measure([own], connections: count, records: batch)
    }
    if let most = connections.max() {
      try await measure([searchable], connections: most, records: 1)
    }
    if let most = batchConnections.max() {
      try await measure([searchable], connections: most, records: batch)
    }
    report.end()
    return 0
  }

  /// The record type of the comparison. Each field has an index of its values, as in PocketBase's
  /// collection.
  private static let plainType = "Earthquake"
  /// The record type with an index of words. Each word of a text is a row of this index.
  private static let wordType = "EarthquakeReport"

  /// Starts PocketBase if the user asked for the comparison; otherwise returns `nil`.
  private static func startRival(
    _ arguments: Arguments, in directory: String
  ) throws -> PocketBaseProcess? {
    switch arguments.string("beside") {
    case nil: return nil
    case "pocketbase":
      return try PocketBaseProcess.start(
        program: arguments.string("pocketbase") ?? "pocketbase", in: directory)
    case let other?: throw UsageError("--beside must be pocketbase, not '\(other)'")
    }
  }

  private static func prepare(_ server: ServerProcess, token: String) async throws {
    func type(_ textIndexes: FieldIndexes) -> ContainerSchema.RecordType {
      .init(
        fields: [
          "magnitude": .init(FieldType(.double), indexes: [.queryable, .sortable]),
          "station": .init(FieldType(.int64), indexes: [.queryable, .sortable]),
          "place": .init(FieldType(.string), indexes: textIndexes),
        ], systemIndexes: [.recordName: [.queryable]])
    }
    let schema = ContainerSchema(
      recordTypes: [
        plainType: type([.queryable, .sortable]),
        wordType: type([.queryable, .sortable, .searchable]),
      ])
    let store = try await ServerProcess.openStore(in: server.directory)
    _ = try await store.schemas.importSchema(
      schema, of: EarthquakeRequests.container, isDryRun: false)
    await store.close()
    try LoadConnection(port: server.port).post(
      EarthquakeRequests.path(
        "zones/modify", scope: "private", token: token, device: "bench"),
      Array(
        #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Bench"}}}]}"#.utf8)
    )
  }

  private static func target(
    _ name: String, _ server: ServerProcess, token: String, recordType: String
  ) -> PetrelSaves {
    PetrelSaves(
      name: name, port: server.port, process: server.identifier,
      path: EarthquakeRequests.path(
        "records/modify", scope: "private", token: token, device: "bench"),
      recordType: recordType)
  }
}
