import CloudKitModel
import Foundation
import HTTP2Transport
import JSONCoding

/// A script for a simulator: the settings at its start, and then the faults and changes of settings
/// in their order. `docs/reference/apns-simulator.md` describes every key.
///
/// ```json
/// { "streams": 100,
///   "steps": [
///     { "after": 20, "do": "reject", "reason": "ServiceUnavailable", "times": 3 },
///     { "do": "goAway", "gathers": 10, "answers": 4 },
///     { "after": 50, "do": "set", "streams": 5 } ] }
/// ```
public struct SimulatorScript: Sendable, Hashable {
  /// The number of requests that a client may have open on a connection at first; nil to keep the
  /// configuration's value.
  public var streams: Int?
  /// The script's value of ``APNsSimulator/Configuration/startsWithOneStream`` (key
  /// `oneStreamFirst`); nil to keep the configuration's value.
  public var startsWithOneStream: Bool?
  /// The other settings, and then the steps, in the order of the script.
  public var faults: [APNsFault.Targeted] = []

  /// Parses the text of a file.
  ///
  /// - Throws: ``APNsSimulationError/Code/invalidScript``. The error names the step, the key and
  ///   the rule. If the text is not JSON, it names the line, the column and the rule.
  public init(parsing text: String) throws(APNsSimulationError) {
    let json: JSONValue
    do {
      json = try JSONValue(parsing: text)
    } catch {
      throw APNsSimulationError(
        .invalidScript, "the script is \(error.description(in: Data(text.utf8)))")
    }
    let reader = ScriptReader(json, place: "")
    try reader.allow(ScriptReader.settingKeys + ["oneStreamFirst", "steps"])
    startsWithOneStream = try reader.bool("oneStreamFirst")
    for setting in try reader.settings() {
      if case .streams(let count) = setting {
        streams = count
      } else {
        faults.append(.init(.set(setting)))
      }
    }
    for step in try reader.list("steps") { faults += try step.step() }
  }

  /// Applies the script to a simulator's configuration. The script's faults follow the faults that
  /// the configuration has.
  public func apply(to configuration: inout APNsSimulator.Configuration) {
    if let streams { configuration.maximumConcurrentStreams = streams }
    if let startsWithOneStream { configuration.startsWithOneStream = startsWithOneStream }
    configuration.script += faults
  }
}
