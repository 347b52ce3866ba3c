import CloudKitModel
import Testing

@testable import PushChannels

struct RetryAfterTests {
  /// 1 January 2026, midnight.
  private let now = Timestamp(milliseconds: 1_767_225_600_000)

  @Test("seconds and dates are understood")
  func good() {
    #expect(RetryAfter.seconds("0", at: now) == 0)
    #expect(RetryAfter.seconds("120", at: now) == 120)
    #expect(RetryAfter.seconds("Thu, 01 Jan 2026 00:02:00 GMT", at: now) == 120)
    #expect(RetryAfter.seconds("Fri, 02 Jan 2026 00:00:00 GMT", at: now) == 86_400)
    #expect(RetryAfter.seconds("Sun, 06 Nov 1994 08:49:37 GMT", at: now) == 0)
  }

  @Test(
    "other texts ask for nothing",
    arguments: [
      "", "-1", "1.5", "soon", "Thu, 01 Jan 2026 00:02:00 CET", "Thu, 32 Jan 2026 00:02:00 GMT",
      "Thu, 01 Foo 2026 00:02:00 GMT", "Thu, 01 Jan 2026 25:02:00 GMT", "01 Jan 2026", "1e9",
      "Thu, 01 Jan 2026 00:0\u{356}2:00 GMT",
    ])
  func bad(_ text: String) {
    #expect(RetryAfter.seconds(text, at: now) == nil)
  }
}
