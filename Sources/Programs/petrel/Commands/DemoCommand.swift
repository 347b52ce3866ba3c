import CommandInterface
import Foundation
import JSONCoding
import ServerHosting
import Settings

/// The command `petrel demo`, which runs the example `EarthquakeAlerts` against a server and an
/// APNs simulator.
///
/// The example, the server and the simulator are child processes. At the end the command deletes
/// the folder with their data, also a folder that `--data` names.
struct DemoCommand: Command {
  let name = "demo"
  let example = "petrel demo"
  let summary = "Starts a server and an APNs simulator and runs the earthquake example."
  let options: [Arguments.Option] = [
    .init("data", "DIRECTORY", "where the demo keeps its data while it runs"),
    .init(
      "earthquakes", "FILE", "the events (default Examples/EarthquakeAlerts/fiji-earthquakes.csv)"),
  ]

  private static let container = "iCloud.org.example.EarthquakeAlerts"

  func run(_ arguments: Arguments) async throws -> Int32 {
    let directory = arguments.string("data") ?? Self.temporaryDirectory()
    let events =
      arguments.string("earthquakes") ?? "Examples/EarthquakeAlerts/fiji-earthquakes.csv"
    do {
      _ = try InputFile.open(events)
    } catch {
      throw UsageError("\(error); name the file with --earthquakes")
    }
    let simulator = try ChildProcess(
      "petrel", ["simulate-apns", "--json", "--port", "0", "--data", directory + "/apns"],
      readsOutput: true)
    defer {
      simulator.stop()
      // If the folder cannot be deleted, its files only disturb a later demo in the same folder.
      try? FileManager.default.removeItem(atPath: directory)
    }
    guard let line = simulator.readLine(),
      var apns = try JSONValue(parsing: line)["listening"]?.object
    else { throw UsageError("the APNs simulator did not start") }
    Output.line("the APNs simulator listens on port \(apns["port"]?.int ?? 0)")
    apns["topics"] = ["org.example.EarthquakeAlerts"]
    let configuration: JSONValue = [
      "containers": .object([Self.container: ["apns": .object(apns)]])
    ]
    let (server, tokens) = try await ServerProcess.start(
      in: directory + "/server", users: ["observatory", "anna", "ben", "chloe"],
      configuration: configuration.text)
    defer { server.stop() }
    Output.line("the server listens on \(server.url.absoluteString)")
    let program = try ChildProcess(
      "EarthquakeAlerts", [],
      environment: [
        "PETREL_SERVER": server.url.absoluteString, "PETREL_CONTAINER": Self.container,
        "PETREL_TOKEN": tokens[0], "PETREL_DEVICE": "seismometer", "ANNA_TOKEN": tokens[1],
        "BEN_TOKEN": tokens[2], "CHLOE_TOKEN": tokens[3], "EARTHQUAKES_CSV": events,
      ],
      input: simulator.remainingOutput, readsOutput: false)
    return program.wait()
  }

  private static func temporaryDirectory() -> String {
    FileManager.default.temporaryDirectory
      .appendingPathComponent("petrel-demo-\(UUID().uuidString)").path
  }
}
