import CloudKitModel
import OutboundHTTP

extension PushAnswer {
  /// The seconds after the first of several refusals in a row from which another refusal removes
  /// the device: a day. An operator has that long to correct a key or a clock before registrations
  /// are lost.
  private static let secondRefusalAge = 86_400.0

  /// Creates the answer of a browser's push service or of a webhook. After an error of the HTTP
  /// client the message is sent again.
  ///
  /// - Parameters:
  ///   - peer: The peer's name in texts, such as `the push service https://push.example.com`.
  ///   - refusedSince: The time of the first refusal of the device; `nil` if it was accepted since.
  ///   - now: The time, for a `Retry-After` field with a date, and for the age of the refusal.
  init(
    _ result: Result<OutboundAnswer, OutboundError>, of peer: String, by rules: PushAnswerRules,
    payload: PushPayload, refusedSince: Timestamp? = nil, now: Timestamp
  ) {
    switch result {
    case .success(let answer):
      self.init(answer, of: peer, by: rules, refusedSince: refusedSince, now: now)
    case .failure(let error):
      let isOwnLimit = error.code == .overloaded || error.code == .closed
      self.init(next: .retry(isOwnLimit ? .reconnect : .service, .device), reason: error.reason)
    }
    self.payload = payload.bytes
  }

  /// Creates the meaning of an answer. If the status is 300 or more, the reason contains the
  /// beginning of the body.
  private init(
    _ answer: OutboundAnswer, of peer: String, by rules: PushAnswerRules, refusedSince: Timestamp?,
    now: Timestamp
  ) {
    let rule = rules.rule(answer.status)
    self.init(next: rule.next, reason: "", status: answer.status)
    guard next != .done else { return }
    retryAfter = answer.headers["retry-after"].flatMap { RetryAfter.seconds($0, at: now) }
    reason = "\(peer) answered \(answer.status)"
    if answer.status >= 300, let words = Self.words(answer.body) { reason += " '\(words)'" }
    if case .refuseDevice = next, let refusedSince,
      now.seconds - refusedSince.seconds >= Self.secondRefusalAge
    {
      next = .dropDevice
      reason += ", as it has answered to all messages since " + refusedSince.iso8601
    } else if let advice = rule.advice {
      reason += ": " + advice
    }
  }

  /// Returns the beginning of a body as text on one line, without control characters: at most 200
  /// characters from the first 400 bytes. `nil` if nothing is left.
  private static func words(_ body: [UInt8]) -> String? {
    let text = String(decoding: body.prefix(400), as: UTF8.self)
    let kept = text.unicodeScalars.map { scalar in
      scalar.isControl || scalar.properties.generalCategory == .format
        ? " " : Character(scalar)
    }
    let words = String(kept).split(separator: " ").joined(separator: " ").prefix(200)
    return words.isEmpty ? nil : String(words)
  }
}
