import CloudKitModel
import Foundation
import Testing

struct TimestampTests {
  @Test(
    "A date is rounded to the nearest millisecond, also before 1970",
    arguments: [
      (0, 0), (1.0004, 1000), (1.0006, 1001), (-1.0004, -1000), (-1.0006, -1001), (0.0007, 1),
      (-0.0007, -1), (1_700_000_000.1234, 1_700_000_000_123), (-14_182_940, -14_182_940_000),
    ] as [(Double, Int64)])
  func rounding(seconds: Double, milliseconds: Int64) {
    #expect(Timestamp(Date(timeIntervalSince1970: seconds)).milliseconds == milliseconds)
  }

  @Test("Dates beyond the range are clamped to it, and what is no date is 1970")
  func clamping() {
    #expect(Timestamp(Date(timeIntervalSince1970: 1e30)).milliseconds == .max)
    #expect(Timestamp(Date(timeIntervalSince1970: -1e30)).milliseconds == .min)
    #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).milliseconds == .max)
    #expect(Timestamp(Date(timeIntervalSince1970: .nan)).milliseconds == 0)
    #expect(Timestamp(Date.distantFuture).date == .distantFuture)
    #expect(Timestamp(Date.distantPast).date == .distantPast)
  }

  @Test("A value's date is finite, and within 100,000,000 days of 1970")
  func storable() {
    let limit = 8_640_000_000_000.0
    for seconds in [limit, -limit, 0] {
      let date = Date(timeIntervalSince1970: seconds)
      #expect(Timestamp(storing: date)?.date == date)
    }
    for date in [Date.distantPast, .distantFuture] {
      #expect(Timestamp(storing: date)?.date == date)
    }
    for seconds in [limit + 0.001, -limit - 0.001, 1e30, .infinity, -.infinity, .nan] {
      #expect(Timestamp(storing: Date(timeIntervalSince1970: seconds)) == nil)
    }
  }

  @Test("A timestamp survives the way through a date, up to the precision of dates")
  func roundTrip() {
    for milliseconds: Int64 in [
      0, 1, -1, 1_700_000_000_123, -62_135_596_800_000, 253_402_300_799_999,
    ] {
      let timestamp = Timestamp(milliseconds: milliseconds)
      #expect(Timestamp(timestamp.date) == timestamp)
    }
  }

  @Test("Moving by seconds rounds to milliseconds and stays in range")
  func advanced() {
    let start = Timestamp(milliseconds: 1_000)
    #expect(start.advanced(bySeconds: 1.5).milliseconds == 2_500)
    #expect(start.advanced(bySeconds: -2).milliseconds == -1_000)
    #expect(start.advanced(bySeconds: 0.0004).milliseconds == 1_000)
    #expect(start.advanced(bySeconds: 1e30).milliseconds == .max)
    #expect(start.advanced(bySeconds: -.infinity).milliseconds == .min + 1_000)
    #expect(Timestamp(milliseconds: .min).advanced(bySeconds: -1).milliseconds == .min)
    #expect(Timestamp(milliseconds: .max).advanced(bySeconds: 1).milliseconds == .max)
  }

  @Test("Earlier is less")
  func order() {
    #expect(Timestamp(milliseconds: -1) < Timestamp(milliseconds: 0))
    #expect(Timestamp(milliseconds: 1500).seconds == 1.5)
  }
}
