import Testing

@testable import PushChannels

struct APNsResultTests {
  @Test(
    "a result is told in few words",
    arguments: [
      (
        APNsResult.answered(
          status: 429, reason: "TooManyRequests", timestamp: nil, apnsID: "x", retryAfter: 2),
        "429 TooManyRequests"
      ),
      (.answered(status: 200, reason: nil, timestamp: nil, apnsID: nil, retryAfter: nil), "200"),
      (.notSent("the client is closed"), "not sent: the client is closed"),
      (.unknown("the connection broke"), "no answer: the connection broke"),
    ])
  func text(result: APNsResult, text: String) {
    #expect("\(result)" == text)
  }
}
