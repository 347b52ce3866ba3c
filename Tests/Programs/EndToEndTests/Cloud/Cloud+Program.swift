import CloudKit
import JSONCoding

/// A server in a process of its own, in the place of the cloud's.
extension Cloud {
  /// Stops the cloud's server and leaves its file and its port to a program, with `server.json`.
  ///
  /// - Parameters:
  ///   - change: changes what the program finds under `apns`, which is the way to the cloud's own
  ///     simulator.
  ///   - settings: what else stands in the configuration.
  func makeRoomForProgram(
    settings: [String: JSONValue] = [:],
    apns change: @Sendable (inout [String: JSONValue]) -> Void = { _ in }
  ) async throws {
    await server.stop()
    await store.close()
    try configureProgram(settings: settings, apns: change)
  }

  /// Writes the `server.json` that the program finds at its next start.
  func configureProgram(
    settings: [String: JSONValue] = [:],
    apns change: @Sendable (inout [String: JSONValue]) -> Void = { _ in }
  ) throws {
    var apns: [String: JSONValue] = [
      "topics": [.string(Self.topic)], "teamID": .string(Self.teamID), "keyID": .string(Self.keyID),
      "keyFile": .string(directory + "/AuthKey.p8"), "host": "127.0.0.1",
      "port": .int(Int64(simulator.port)), "authorityFile": .string(directory + "/authority.pem"),
    ]
    change(&apns)
    let containers: JSONValue = .object([Self.container: ["apns": .object(apns)]])
    let file = JSONValue.object(settings.merging(["containers": containers]) { $1 })
    try file.text.write(toFile: directory + "/server.json", atomically: true, encoding: .utf8)
  }

  /// Starts the program; comes back when it listens.
  func startProgram() async throws -> Program {
    let program = try Program(
      "petrel", ["serve", "--data", directory, "--port", "\(serverPort)"], in: directory)
    try await program.line(containing: "listens on")
    return program
  }
}
