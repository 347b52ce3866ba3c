import CloudKitModel
import Foundation
import HTTP2Transport
import JSONCoding

/// A file that says how a simulator treats its senders; `docs/apns-simulator.md` has every key.
///
/// ```json
/// { "streams": 100,
///   "steps": [
///     { "after": 20, "do": "reject", "reason": "ServiceUnavailable", "retryAfter": 2, "times": 3 },
///     { "do": "goAway", "gathers": 10, "answers": 4 },
///     { "after": 50, "do": "set", "streams": 5 } ] }
/// ```
public struct SimulatorScript: Sendable, Hashable {
  /// How many requests may be open on a connection at first; nil to leave it as it is.
  public var streams: Int?
  /// Whether a connection may have one open request until it was trusted; nil to leave it as it is.
  public var startsWithOneStream: Bool?
  /// What else is to happen, in its order.
  public var faults: [APNsFault.Targeted] = []

  /// Reads a file's text.
  ///
  /// - Throws: ``APNsSimulationError/Code/invalidScript`` naming the step, the key and the rule;
  ///   for what is no JSON line, column and rule.
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

  /// Applies the script to a simulator's configuration.
  public func apply(to configuration: inout APNsSimulator.Configuration) {
    if let streams { configuration.maximumConcurrentStreams = streams }
    if let startsWithOneStream { configuration.startsWithOneStream = startsWithOneStream }
    configuration.script += faults
  }
}
