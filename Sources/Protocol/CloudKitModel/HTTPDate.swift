import Foundation

/// The date format of HTTP headers such as `Date` and `Retry-After` (RFC 9110, section 5.6.7).
public enum HTTPDate {
  /// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate), and returns the seconds
  /// since 1970-01-01 00:00 UTC.
  ///
  /// Years are 1970 to 9999. The function does not check the weekday. A day after the end of the
  /// month, such as 31 Feb, counts as a day of the next month.
  ///
  /// - Returns: nil for a text of another format, also for the two formats that RFC 9110 calls
  ///   obsolete. Servers do not send these two formats any more.
  public static func seconds(_ text: String) -> Double? {
    guard text.utf8.count <= longest else { return nil }
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT", let day = Int(parts[1]),
      let month = months.firstIndex(of: parts[2]), let year = Int(parts[3])
    else { return nil }
    let clock = parts[4].split(separator: ":").compactMap { Int($0) }
    guard clock.count == 3, (1...31).contains(day), (1970...9999).contains(year),
      (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
    else { return nil }
    var calendarTime = tm()
    calendarTime.tm_year = Int32(year - 1900)
    calendarTime.tm_mon = Int32(month)
    calendarTime.tm_mday = Int32(day)
    calendarTime.tm_hour = Int32(clock[0])
    calendarTime.tm_min = Int32(clock[1])
    calendarTime.tm_sec = Int32(clock[2])
    return Double(timegm(&calendarTime))
  }

  /// The largest number of bytes of a text that the function parses. A date has 29 bytes.
  private static let longest = 40

  private static let months: [Substring] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
