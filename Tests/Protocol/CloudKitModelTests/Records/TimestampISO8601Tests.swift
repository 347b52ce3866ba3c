import CloudKitModel
import Foundation
import Testing

struct TimestampISO8601Tests {
  @Test(
    "known moments",
    arguments: [
      (0, "1970-01-01T00:00:00Z"),
      (999, "1970-01-01T00:00:00.999Z"),
      (-1, "1969-12-31T23:59:59.999Z"),
      (951_782_400_000, "2000-02-29T00:00:00Z"),
      (951_868_799_000, "2000-02-29T23:59:59Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00Z"),
      (253_402_300_799_000, "9999-12-31T23:59:59Z"),
      (253_402_300_800_000, "+010000-01-01T00:00:00Z"),
      (-62_167_219_200_000, "0000-01-01T00:00:00Z"),
      (-62_167_219_200_001, "-000001-12-31T23:59:59.999Z"),
      (Int64.max, "+292278994-08-17T07:12:55.807Z"),
      (Int64.min, "-292275055-05-16T16:47:04.192Z"),
    ])
  func known(milliseconds: Int64, text: String) {
    #expect(Timestamp(milliseconds: milliseconds).iso8601 == text)
  }

  @Test("every day of 800 years comes back from Foundation's parser")
  func everyDay() throws {
    // From 1600, for Foundation counts in the Julian calendar before 1582.
    for day in Int64(-135_140)...157_060 {
      let seconds = day * 86_400 + (day * 7919 % 86_400 + 86_400) % 86_400
      let text = Timestamp(milliseconds: seconds * 1000).iso8601
      let date = try Date.ISO8601FormatStyle().parse(text)
      guard date.timeIntervalSince1970 == Double(seconds) else {
        Issue.record("\(seconds) became \(text)")
        return
      }
    }
  }
}
