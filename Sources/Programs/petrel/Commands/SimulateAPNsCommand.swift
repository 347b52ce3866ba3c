import APNsSimulation
import CommandInterface
import Foundation
import JSONCoding
import ServerHosting
import Settings

/// The command `petrel simulate-apns`, which runs the APNs simulator and prints the pushes that it
/// receives.
///
/// The command ends on SIGINT or SIGTERM, or when the simulator has accepted `--count` pushes.
struct SimulateAPNsCommand: Command {
  let name = "simulate-apns"
  let example = "petrel simulate-apns --port 2197"
  let summary = "Simulates APNs on this machine and shows the pushes that it receives."
  let options: [Arguments.Option] = [
    .init("data", "DIRECTORY", "the directory for its key and certificate (default .petrel/apns)"),
    .init("port", "PORT", "the port to listen on, or 0 to let the system choose (default 2197)"),
    .init("json", nil, "prints each push as a line of JSON"),
    .init("faults", "FILE", "the faults to simulate, one a line, such as: * ServiceUnavailable x3"),
    .init("script", "FILE", "a script of faults, in JSON (docs/reference/apns-simulator.md)"),
    .init("client-ca", "FILE", "accepts client certificates of this authority (a PEM file)"),
    .init("production", nil, "simulates production instead of the sandbox"),
    .init("streams", "NUMBER", "requests that may be open on one connection (default 1000)"),
    .init("goaway-after", "NUMBER", "closes each connection after this number of requests"),
    .init("count", "NUMBER", "stops after it has accepted this number of pushes"),
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let printsJSON = arguments.flag("json")
    let greatestCount = try arguments.int("count", in: 1...Int.max)
    let files = try SimulatorFiles(in: arguments.string("data") ?? ".petrel/apns")
    let port = try arguments.int("port", in: 0...65_535) ?? 2197
    var configuration = files.configuration(port: port)
    if arguments.flag("production") { configuration.environment = .production }
    configuration.clientAuthorityPEM = try arguments.string("client-ca").map(Self.text(of:))
    try arguments.string("script").map(Self.script(in:))?.apply(to: &configuration)
    configuration.requestsPerConnection = try arguments.int("goaway-after", in: 1...Int.max)
    if let streams = try arguments.int("streams", in: 1...100_000) {
      configuration.maximumConcurrentStreams = streams
    }
    let faults = try Self.faults(arguments)
    let simulator = try await APNsSimulator.start(configuration)
    for instruction in faults { simulator.script(instruction.fault, for: instruction.deviceToken) }
    let pushes = simulator.watch()
    Self.introduce(
      files.settings(host: "127.0.0.1", port: simulator.port, topic: "your.bundle.id"),
      asJSON: printsJSON)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        var accepted = 0
        for await push in pushes {
          Output.line(printsJSON ? push.jsonLine : "\(push)\n")
          if push.isAccepted { accepted += 1 }
          if accepted == greatestCount { return }
        }
      }
      group.addTask { await TerminationSignal.wait() }
      await group.next()
      await simulator.stop()
      group.cancelAll()
    }
    return 0
  }

  /// Returns the faults in the file of `--faults`.
  ///
  /// - Throws: `UsageError` with the mistake.
  private static func faults(_ arguments: Arguments) throws -> [FaultInstruction] {
    guard let file = arguments.string("faults") else { return [] }
    let text = try text(of: file)
    do {
      return try FaultInstruction.parse(text)
    } catch {
      throw UsageError("\(file): \(error)")
    }
  }

  /// Returns the script in the file of `--script`.
  ///
  /// - Throws: `UsageError` with the mistake.
  private static func script(in file: String) throws -> SimulatorScript {
    let text = try text(of: file)
    do {
      return try SimulatorScript(parsing: text)
    } catch {
      throw UsageError("\(file): \(error)")
    }
  }

  private static func text(of file: String) throws -> String {
    String(decoding: try InputFile.contents(of: file), as: UTF8.self)
  }

  private static func introduce(_ settings: JSONValue, asJSON: Bool) {
    if asJSON {
      Output.line(JSONValue.object(["listening": settings]).text)
    } else {
      Output.line(
        """
        the simulated APNs listens on port \(settings["port"]?.int ?? 0)
        in the server's configuration, under "apns" of a container: \(settings.text)

        """)
    }
  }
}
