import CloudKitModel
import Testing

@testable import PushChannels

struct DeliveryOutcomeTests {
  private static let moment = Timestamp(milliseconds: 1_767_225_600_000)

  /// One word for an outcome, and whom it concerns.
  private static func word(_ outcome: DeliveryOutcome) -> String {
    switch outcome {
    case .delivered: "delivered"
    case .dropDeviceToken: "drop"
    case .refuseDevice: "refuse"
    case .retry(let delay, let scope): "retry \(scope) after \(delay)"
    case .refreshProviderToken: "refresh"
    case .suspend(let scope, _): "suspend \(scope)"
    case .fault: "fault"
    }
  }

  @Test(
    "every documented reason has its outcome",
    arguments: [
      (200, nil, "delivered"),
      (400, "BadCollapseId", "fault"),
      (400, "BadDeviceToken", "drop"),
      (400, "BadExpirationDate", "fault"),
      (400, "BadMessageId", "fault"),
      (400, "BadPriority", "fault"),
      (400, "BadTopic", "suspend topic"),
      (400, "DeviceTokenNotForTopic", "refuse"),
      (400, "DuplicateHeaders", "fault"),
      (400, "IdleTimeout", "retry push after 0.05"),
      (400, "InvalidPushType", "fault"),
      (400, "MissingDeviceToken", "fault"),
      (400, "MissingTopic", "suspend topic"),
      (400, "PayloadEmpty", "fault"),
      (400, "TopicDisallowed", "suspend topic"),
      (400, "SomethingNew", "fault"),
      (400, nil, "fault"),
      (403, "BadCertificate", "suspend route"),
      (403, "BadCertificateEnvironment", "suspend route"),
      (403, "BadEnvironmentKeyIdInToken", "suspend route"),
      (403, "BadEnvironmentKeyInToken", "suspend route"),
      (403, "ExpiredProviderToken", "refresh"),
      (403, "Forbidden", "suspend route"),
      (403, "InvalidProviderToken", "suspend route"),
      (403, "MissingProviderToken", "suspend route"),
      (403, "UnrelatedKeyIdInToken", "suspend route"),
      (403, "SomethingNew", "suspend route"),
      (404, "BadPath", "fault"),
      (404, nil, "fault"),
      (405, "MethodNotAllowed", "fault"),
      (410, "ExpiredToken", "drop"),
      (410, "Unregistered", "drop"),
      (410, "SomethingNew", "drop"),
      (413, "PayloadTooLarge", "fault"),
      (429, "TooManyProviderTokenUpdates", "retry route after 1200.0"),
      (429, "TooManyRequests", "retry device after 7.5"),
      (429, nil, "retry device after 7.5"),
      (500, "InternalServerError", "retry push after 0.5"),
      (503, "ServiceUnavailable", "retry route after 0.5"),
      (503, "Shutdown", "retry push after 0.05"),
      (502, nil, "retry route after 0.5"),
      (599, "SomethingNew", "retry route after 0.5"),
      (302, nil, "fault"),
    ] as [(Int, String?, String)])
  func row(status: Int, reason: String?, expected: String) {
    let outcome = DeliveryOutcome.of(
      status: status, reason: reason, attempt: DeliveryAttempt(previous: 0, random: 0))
    #expect(Self.word(outcome) == expected)
  }

  @Test("a push whose token is called expired after all means that the clock is wrong")
  func clock() {
    let result = APNsResult.answered(
      status: 403, reason: "ExpiredProviderToken", timestamp: nil, apnsID: nil, retryAfter: nil)
    guard
      case .suspend(.route, let message) = DeliveryOutcome.of(
        result, attempt: DeliveryAttempt(previous: 0, random: 0))
    else {
      Issue.record("no suspension")
      return
    }
    #expect(message.contains("clock is wrong"))
  }

  @Test("every row of the table is found by its own status and reason")
  func table() {
    for rule in DeliveryRule.all {
      let found = DeliveryRule.rule(status: rule.status, reason: rule.reason)
      #expect(found.action == rule.action, "\(rule)")
    }
  }

  @Test("a token that was registered after the answer's timestamp stays")
  func timestamps() {
    let outcome = DeliveryOutcome.of(
      status: 410, reason: "Unregistered", timestamp: Self.moment,
      attempt: DeliveryAttempt(previous: 0, random: 0))
    #expect(outcome == .dropDeviceToken(invalidSince: Self.moment))
    #expect(outcome.drops(tokenRegistered: Self.moment.advanced(bySeconds: -1)))
    #expect(!outcome.drops(tokenRegistered: Self.moment))
    #expect(!outcome.drops(tokenRegistered: Self.moment.advanced(bySeconds: 1)))
  }

  @Test("without a timestamp the token goes whenever it was registered; other outcomes keep it")
  func noTimestamp() {
    let outcome = DeliveryOutcome.of(
      status: 400, reason: "BadDeviceToken", attempt: DeliveryAttempt(previous: 0, random: 0))
    #expect(outcome.drops(tokenRegistered: Self.moment))
    #expect(!DeliveryOutcome.delivered.drops(tokenRegistered: Self.moment))
  }

  @Test("Retry-After is obeyed where it asks for more")
  func retryAfter() {
    func outcome(_ retryAfter: Double) -> DeliveryOutcome {
      .of(
        status: 503, reason: "ServiceUnavailable", retryAfter: retryAfter,
        attempt: DeliveryAttempt(previous: 4, rests: 0, random: 0))
    }
    #expect(outcome(90) == .retry(after: 90, .route))
    #expect(outcome(0.1) == .retry(after: 0.5, .route))
  }

  @Test("what was not sent, and what was not answered, is sent again soon, and later each time")
  func lost() {
    #expect(
      DeliveryOutcome.ofNotSent(attempt: DeliveryAttempt(previous: 0, random: 1))
        == .retry(after: 0.1, .push))
    #expect(
      DeliveryOutcome.ofUnknown(attempt: DeliveryAttempt(previous: 3, random: 1))
        == .retry(after: 0.8, .push))
  }

  @Test("the operator's message names the status, the reason and what to check")
  func message() {
    let outcome = DeliveryOutcome.of(
      status: 403, reason: "InvalidProviderToken", attempt: DeliveryAttempt(previous: 0, random: 0))
    guard case .suspend(.route, let message) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(message.contains("403 InvalidProviderToken"))
    #expect(message.contains("key ID"))
  }
}

struct RetryPolicyTests {
  private let policy = RetryPolicy(firstDelay: 1, greatestDelay: 60)

  @Test("doubles with each attempt up to its limit, with a random half")
  func delays() {
    for attempt in 0..<100 {
      let whole = min(60, attempt < 10 ? Double(1 << attempt) : 60)
      #expect(policy.delay(attempt: attempt, random: 0) == whole / 2)
      #expect(policy.delay(attempt: attempt, random: 0.5) == whole * 0.75)
      #expect(policy.delay(attempt: attempt, random: 1) == whole)
    }
    #expect(policy.delay(attempt: .max, random: 1) == 60)
    #expect(policy.delay(attempt: -1, random: 1) == 1)
  }

  @Test("is at least what the peer asks for, within reason")
  func retryAfter() {
    #expect(policy.delay(attempt: 0, random: 0, retryAfter: 300) == 300)
    #expect(policy.delay(attempt: 9, random: 1, retryAfter: 5) == 60)
    #expect(policy.delay(attempt: 0, random: 0, retryAfter: .infinity) == 86_400)
    #expect(policy.delay(attempt: 0, random: 0, retryAfter: -3) == 0.5)
    #expect(policy.delay(attempt: 0, random: 0, retryAfter: .nan) == 0.5)
  }
}
