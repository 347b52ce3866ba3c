import CloudKitModel
import Testing

@testable import PushChannels

struct PushAnswerTests {
  /// One word for what follows, and whom it concerns.
  private static func word(_ answer: PushAnswer) -> String {
    let delay = answer.delay(attempts: 0, pauses: 0, random: 0).map { " after \($0)" } ?? ""
    return switch answer.next {
    case .done: "delivered"
    case .dropDevice: "drop"
    case .refuseDevice: "refuse" + delay
    case .retry(_, let scope): "retry \(scope)" + delay
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
      (400, "BadTopic", "retry route after 60.0"),
      (400, "DeviceTokenNotForTopic", "refuse"),
      (400, "DuplicateHeaders", "fault"),
      (400, "IdleTimeout", "retry push after 0.05"),
      (400, "InvalidPushType", "fault"),
      (400, "MissingDeviceToken", "fault"),
      (400, "MissingTopic", "retry route after 60.0"),
      (400, "PayloadEmpty", "fault"),
      (400, "TopicDisallowed", "retry route after 60.0"),
      (400, "SomethingNew", "fault"),
      (400, nil, "fault"),
      (403, "BadCertificate", "retry route after 60.0"),
      (403, "BadCertificateEnvironment", "retry route after 60.0"),
      (403, "BadEnvironmentKeyIdInToken", "retry route after 60.0"),
      (403, "BadEnvironmentKeyInToken", "retry route after 60.0"),
      (403, "ExpiredProviderToken", "retry route after 60.0"),
      (403, "Forbidden", "retry route after 60.0"),
      (403, "InvalidProviderToken", "retry route after 60.0"),
      (403, "MissingProviderToken", "retry route after 60.0"),
      (403, "UnrelatedKeyIdInToken", "retry route after 60.0"),
      (403, "SomethingNew", "retry route after 60.0"),
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
    let answer = PushAnswer.apns(status, reason)
    #expect(Self.word(answer) == expected)
    #expect(answer.status == status && answer.reach == .answered)
  }

  @Test("a push whose token is called expired after all means that the clock is wrong")
  func clock() {
    #expect(PushAnswer.apns(403, "ExpiredProviderToken").reason.contains("clock is wrong"))
  }

  @Test(
    "every row of a table is found by its own status and reason",
    arguments: [PushAnswerRules.apns, .webPush, .webhook])
  func table(_ table: PushAnswerRules) {
    for rule in table.rules {
      #expect(table.rule(rule.statuses.upperBound, rule.code) == rule, "\(rule)")
    }
  }

  @Test(
    "an answer is described in few words",
    arguments: [
      (PushAnswer.apns(429, "TooManyRequests"), "429 TooManyRequests"), (.apns(502), "502"),
      (.notSent("the client is closed"), "not sent: the client is closed"),
      (.unanswered("the connection broke"), "no answer: the connection broke"),
      (
        .apns(400, "BadPriority"),
        "APNs answered 400 BadPriority: a push of this server should never cause it; the server does "
          + "not send the push again"
      ),
    ])
  func text(answer: PushAnswer, text: String) {
    #expect(answer.reason == text)
  }

  @Test("Retry-After is obeyed where it asks for more")
  func retryAfter() {
    func delay(_ retryAfter: Double) -> Double? {
      PushAnswer.apns(503, "ServiceUnavailable", retryAfter: retryAfter)
        .delay(attempts: 4, pauses: 0, random: 0)
    }
    #expect(delay(90) == 90)
    #expect(delay(0.1) == 0.5)
  }

  @Test("the delay of a route grows with its pauses, and any other with the attempts of the push")
  func growing() {
    func delays(_ answer: PushAnswer) -> [Double?] {
      [(0, 0), (3, 0), (0, 3)].map { answer.delay(attempts: $0.0, pauses: $0.1, random: 0) }
    }
    #expect(delays(.apns(503, "ServiceUnavailable")) == [0.5, 0.5, 4])
    #expect(delays(.apns(500, "InternalServerError")) == [0.5, 4, 0.5])
    #expect(delays(.apns(429, "TooManyRequests")) == [7.5, 60, 7.5])
    #expect(delays(.apns(403, "InvalidProviderToken")) == [60, 60, 60])
    #expect(delays(.apns(400, "BadDeviceToken")) == [nil, nil, nil])
  }

  @Test("what was not sent, and what was not answered, is sent again soon, and later each time")
  func lost() {
    #expect(PushAnswer.notSent("").next == .retry(.reconnect, .push))
    #expect(PushAnswer.notSent("").delay(attempts: 0, pauses: 9, random: 1) == 0.1)
    #expect(PushAnswer.unanswered("").next == .retry(.reconnect, .push))
    #expect(PushAnswer.unanswered("").delay(attempts: 3, pauses: 9, random: 1) == 0.8)
  }

  @Test("the operator's message names the status, the reason and what to check")
  func message() {
    let reason = PushAnswer.apns(403, "InvalidProviderToken").reason
    #expect(reason.contains("403 InvalidProviderToken"))
    #expect(reason.contains("key ID"))
  }
}

struct PushRetryPolicyTests {
  private let policy = PushRetryPolicy(firstDelay: 1, greatestDelay: 60)

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
    #expect(PushRetryPolicy.repair.delay(attempt: 7, random: 0.5) == 60)
  }

  @Test("is at least what the peer asks for, within reason")
  func retryAfter() {
    #expect(policy.delay(attempt: 0, random: 0, retryAfter: 300) == 300)
    #expect(policy.delay(attempt: 9, random: 1, retryAfter: 5) == 60)
    #expect(policy.delay(attempt: 0, random: 0, retryAfter: .infinity) == 86_400)
    #expect(policy.delay(attempt: 0, random: 0, retryAfter: -3) == 0.5)
    #expect(policy.delay(attempt: 0, random: 0, retryAfter: .nan) == 0.5)
  }

  @Test("after failures of the store, delays grow from 50 ms to 5 s and begin anew after a success")
  func store() {
    var backoff = StoreBackoff()
    let delays = (0..<10).map { _ in backoff.fail() }
    #expect(delays.first == 0.05)
    #expect(delays.last == 5)
    #expect(delays == delays.sorted())
    backoff.succeed()
    #expect(backoff.fail() == 0.05)
  }
}
