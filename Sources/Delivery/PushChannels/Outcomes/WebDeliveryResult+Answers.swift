import CloudKitModel
import OutboundHTTP

extension WebDeliveryResult {
  /// Creates the result of a request: of an answer, or of an error of the HTTP client. After an
  /// error the message is sent again.
  ///
  /// - Parameters:
  ///   - peer: The peer's name in texts, such as `the push service https://push.example.com`.
  ///   - rules: The rules for the answer's status.
  ///   - attempt: The number of earlier attempts to send the message.
  ///   - random: A number in 0 ..< 1 for the random part of the delay.
  ///   - refusedSince: The time of the first refusal of the device; `nil` if it was accepted since.
  ///   - now: The time, for a `Retry-After` field with a date, and for the age of the refusal.
  init(
    _ result: Result<OutboundAnswer, OutboundError>, of peer: String, by rules: [WebAnswerRule],
    attempt: Int, random: Double, refusedSince: Timestamp? = nil, now: Timestamp
  ) {
    switch result {
    case .success(let answer):
      self.init(
        answer, of: peer, by: rules, attempt: attempt, random: random, refusedSince: refusedSince,
        now: now)
    case .failure(let error):
      let policy: RetryPolicy =
        switch error.code {
        case .overloaded, .closed: .reconnect
        default: .service
        }
      self.init(
        .retry(after: policy.delay(attempt: attempt, random: random), .device), error.reason)
    }
  }

  /// Creates the result of an answer. If the status is 300 or more, the text contains the beginning
  /// of the body.
  private init(
    _ answer: OutboundAnswer, of peer: String, by rules: [WebAnswerRule], attempt: Int,
    random: Double, refusedSince: Timestamp?, now: Timestamp
  ) {
    var detail = "\(peer) answered \(answer.status)"
    if answer.status >= 300, let words = Self.words(answer.body) { detail += " '\(words)'" }
    func delay(_ policy: RetryPolicy) -> Double {
      let asked = answer.headers["retry-after"].flatMap { RetryAfter.seconds($0, at: now) }
      return policy.delay(attempt: attempt, random: random, retryAfter: asked)
    }
    switch WebAnswerRule.action(for: answer.status, by: rules) {
    case .accept: self.init(.delivered, detail)
    case .drop: self.init(.dropDeviceToken(invalidSince: nil), detail)
    case .retry(let policy): self.init(.retry(after: delay(policy), .device), detail)
    case .retryUntilMended(let advice):
      self.init(.retry(after: delay(.service), .device), detail + ": " + advice)
    case .refuse(let advice):
      if let refusedSince,
        now.seconds - refusedSince.seconds >= WebAnswerRule.secondRefusalAge
      {
        self.init(
          .dropDeviceToken(invalidSince: nil),
          detail + ", as it has answered to all messages since " + refusedSince.iso8601)
      } else {
        self.init(.refuseDevice(retryAfter: delay(.service)), detail + ": " + advice)
      }
    case .giveUp(let why):
      detail += ": " + why
      self.init(.fault(message: detail), detail)
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
