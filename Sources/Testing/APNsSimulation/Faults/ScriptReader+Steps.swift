import CloudKitModel
import HTTP2Transport
import JSONCoding

extension ScriptReader {
  /// The keys of a script's settings (``APNsSetting``), in the order in which the settings take
  /// effect.
  static let settingKeys = [
    "streams", "requestsPerConnection", "readDelay", "providerTokenLifetime", "handshakes",
  ]

  func settings() throws(APNsSimulationError) -> [APNsSetting] {
    var settings: [APNsSetting] = []
    if let count = try int("streams", in: 0...100_000) { settings.append(.streams(count)) }
    if isNull("requestsPerConnection") {
      settings.append(.requestsPerConnection(nil))
    } else if let count = try int("requestsPerConnection", in: 1...Int64(Int32.max)) {
      settings.append(.requestsPerConnection(count))
    }
    if isNull("readDelay") {
      settings.append(.readDelay(seconds: nil))
    } else if let seconds = try seconds("readDelay", in: 0...3600) {
      settings.append(.readDelay(seconds: seconds))
    }
    if let seconds = try int("providerTokenLifetime", in: 0...86_400) {
      settings.append(.providerTokenLifetime(seconds: seconds))
    }
    var faults: [APNsHandshakeFault] = []
    for entry in try list("handshakes") {
      guard let name = entry.json.string, let fault = APNsHandshakeFault(rawValue: name) else {
        let known = APNsHandshakeFault.allCases.map(\.rawValue).joined(separator: ", ")
        throw entry.mistake("must be one of \(known), not \(entry.json.text)")
      }
      faults.append(fault)
    }
    if !faults.isEmpty { settings.append(.handshakes(faults)) }
    return settings
  }

  /// The kinds of steps (the values of `do`), with the keys that each kind may have beside `do`,
  /// `device` and `after`.
  private static let kinds: [String: [String]] = [
    "reject": ["times", "reason", "retryAfter", "timestamp"],
    "answer": ["times", "status", "reason"],
    "delay": ["times", "seconds"],
    "stall": ["times"],
    "reset": ["times", "code"],
    "goAway": ["gathers", "answers", "patience", "reason"],
    "disconnect": ["times"],
    "freeze": ["times"],
    "expireTokens": [],
    "set": settingKeys,
  ]

  /// Returns the faults of a step: one fault, or one for each setting of a `set` step.
  func step() throws(APNsSimulationError) -> [APNsFault.Targeted] {
    guard json.object != nil else { throw mistake("must be an object, not \(json.kind)") }
    let kind = try string("do") ?? ""
    guard let keys = Self.kinds[kind] else {
      let known = Self.kinds.keys.sorted().joined(separator: ", ")
      throw mistake(
        (kind.isEmpty ? "'do' is missing" : "'\(kind)' is not a step") + "; the steps are \(known)")
    }
    try allow(["do", "device", "after"] + keys)
    let device = try string("device")
    let passes = try int("after", in: 0...Int64(Int32.max)) ?? 0
    if kind == "set" {
      let settings = try settings()
      guard !settings.isEmpty else {
        throw mistake("'set' needs one of \(Self.settingKeys.joined(separator: ", "))")
      }
      return settings.enumerated().map { index, setting in
        .init(.set(setting).after(index == 0 ? passes : 0), for: device)
      }
    }
    var fault = try fault(kind).after(passes)
    if let times = try int("times", in: 1...Int64(Int32.max)) { fault = fault.times(times) }
    return [.init(fault, for: device)]
  }

  /// `step()` has checked the kind and the keys.
  private func fault(_ kind: String) throws(APNsSimulationError) -> APNsFault {
    switch kind {
    case "reject":
      guard let reason = try reason() else { throw mistake("'reason' is missing") }
      let time = try int("timestamp", in: 0...Int64(1) << 52).map {
        Timestamp(milliseconds: Int64($0))
      }
      return .reject(
        reason, timestamp: time, retryAfter: try int("retryAfter", in: 0...86_400))
    case "answer":
      guard let status = try int("status", in: 200...599) else {
        throw mistake("'status' is missing")
      }
      return .answer(status: status, reason: try string("reason"))
    case "delay":
      guard let seconds = try seconds("seconds", in: 0...86_400) else {
        throw mistake("'seconds' is missing")
      }
      return .delay(seconds: seconds)
    case "reset":
      let name = try string("code") ?? "INTERNAL_ERROR"
      guard let code = HTTP2ErrorCode(name: name) else {
        throw mistake(
          "'\(name)' is not an error code of HTTP/2, such as REFUSED_STREAM or INTERNAL_ERROR")
      }
      return .reset(code)
    case "goAway":
      let gathers = try int("gathers", in: 1...100_000) ?? 1
      let answers = try int("answers", in: 0...Int64(gathers)) ?? 0
      return .goAway(
        gathering: gathers, answering: answers,
        patience: try seconds("patience", in: 0...3600) ?? 1, reason: try reason())
    case "disconnect": return .disconnect
    case "freeze": return .freeze
    case "expireTokens": return .expireTokens
    default: return .stall
    }
  }

  private func reason() throws(APNsSimulationError) -> APNsReason? {
    guard let name = try string("reason") else { return nil }
    guard let reason = APNsReason(rawValue: name) else {
      throw mistake("'\(name)' is not a reason of APNs, such as Unregistered")
    }
    return reason
  }
}
