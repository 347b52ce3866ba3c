import CloudKitModel
import HTTP2Transport

/// A line of a file of faults: a fault and the device to which it applies.
///
/// ```
/// # device   fault                        how often
/// *          ServiceUnavailable           x3
/// *          TooManyRequests after 2      x1
/// d4d4…      Unregistered
/// *          delay 1.5
/// *          goaway                       x1
/// ```
///
/// - The device is a device token, or `*` for any device.
/// - The fault is one of APNs' reasons (``APNsReason``). With `after SECONDS`, the answer has a
///   `Retry-After` header.
/// - Or the fault is `delay SECONDS`, `stall`, `goaway`, `disconnect`, `freeze`, `refuse` or
///   `reset`. The last two reset the request's stream. `refuse` says that the request was not
///   processed, and `reset` does not.
/// - `xN` is the number of requests to which the fault applies, such as `x3`. Without it, the fault
///   applies to all later requests.
/// - Empty lines, and the text of a line from `#` on, are ignored.
public struct FaultInstruction: Sendable, Hashable {
  /// The device's token in lower case; nil for any device.
  public var deviceToken: String?
  /// The fault.
  public var fault: APNsFault

  /// Parses the text of a file.
  ///
  /// - Throws: ``APNsSimulationError/Code/invalidFault`` with the line's number and the rule.
  public static func parse(_ text: String) throws(APNsSimulationError) -> [FaultInstruction] {
    var instructions: [FaultInstruction] = []
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let content = line.prefix { $0 != "#" }
      var words = content.split(whereSeparator: \.isWhitespace).map(String.init)[...]
      guard let device = words.popFirst() else { continue }
      do {
        instructions.append(try FaultInstruction(device: device, &words))
      } catch {
        throw APNsSimulationError(.invalidFault, "line \(index + 1): \(error.reason)")
      }
    }
    return instructions
  }

  private init(device: String, _ words: inout ArraySlice<String>) throws(APNsSimulationError) {
    deviceToken = device == "*" ? nil : device.lowercased()
    var count: Int?
    if let last = words.last, last.hasPrefix("x"), let times = Int(last.dropFirst()), times > 0 {
      count = times
      words.removeLast()
    }
    guard let name = words.popFirst() else {
      throw APNsSimulationError(.invalidFault, "the fault is missing after '\(device)'")
    }
    fault = try Self.fault(name, &words)
    if let extra = words.first {
      throw APNsSimulationError(.invalidFault, "'\(extra)' is not allowed after '\(name)'")
    }
    if let count { fault = fault.times(count) }
  }

  /// Parses the arguments of the fault with this name. Removes the parsed words.
  private static func fault(
    _ name: String, _ words: inout ArraySlice<String>
  ) throws(APNsSimulationError) -> APNsFault {
    switch name {
    case "delay": return .delay(seconds: try seconds(&words, of: name))
    case "stall": return .stall
    case "refuse": return .reset(.refusedStream)
    case "reset": return .reset(.internalError)
    case "goaway": return .goAway
    case "disconnect": return .disconnect
    case "freeze": return .freeze
    default: break
    }
    guard let reason = APNsReason(rawValue: name) else {
      throw APNsSimulationError(
        .invalidFault,
        "'\(name)' is neither a reason of APNs, such as Unregistered, nor one of delay, stall, "
          + "refuse, reset, goaway, disconnect, freeze")
    }
    var retryAfter: Int?
    if words.first == "after" {
      words.removeFirst()
      retryAfter = Int(try seconds(&words, of: "after").rounded(.up))
    }
    return .reject(
      reason, timestamp: reason.status == 410 ? .now : nil, retryAfter: retryAfter)
  }

  /// Parses a number of seconds, 0 to 86,400.
  private static func seconds(
    _ words: inout ArraySlice<String>, of name: String
  ) throws(APNsSimulationError) -> Double {
    guard let text = words.popFirst(), let seconds = Double(text), (0...86_400).contains(seconds)
    else {
      throw APNsSimulationError(
        .invalidFault, "'\(name)' needs a number of seconds from 0 to 86400")
    }
    return seconds
  }
}
