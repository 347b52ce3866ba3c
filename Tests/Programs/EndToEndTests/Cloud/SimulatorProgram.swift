import APNsSimulation
import CloudKit
import JSONCoding
import Waiting

/// `petrel simulate-apns` in a process of its own.
final class SimulatorProgram: Sendable {
  let program: Program
  /// The settings that a server needs under `apns`.
  let settings: [String: JSONValue]

  /// Starts a simulator that listens at a port of its own; comes back when it does.
  init(_ arguments: [String] = [], in folder: String) async throws {
    program = try Program(
      "petrel",
      ["simulate-apns", "--data", folder + "/apns", "--port", "0", "--json"] + arguments,
      in: folder)
    let line = try JSONValue(parsing: await program.line(containing: #"{"listening":"#))
    settings = line["listening"]?.object ?? [:]
  }

  /// The received pushes, oldest first.
  var received: [ReceivedPush] {
    get throws {
      // What follows the last line's end is not whole yet.
      let text = program.output
      let lines = text[..<(text.lastIndex(of: "\n") ?? text.startIndex)].split(separator: "\n")
      return try lines.dropFirst().map { try ReceivedPush(jsonLine: String($0)) }
    }
  }

  /// Waits until so many pushes were accepted, and answers all that came.
  @discardableResult
  func accept(_ count: Int) async throws -> [ReceivedPush] {
    try await eventually("\(count) pushes are accepted") {
      try received.count(where: \.isAccepted) >= count
    }
    return try received
  }
}
