extension Timestamp {
  /// The time as ISO 8601 text in UTC, such as `2026-03-01T09:30:00Z`. Milliseconds are written
  /// when they are not 0.
  ///
  /// Years outside of 0 to 9999 have a sign and at least six digits (ISO 8601-1, section 4.3.2).
  ///
  /// Foundation's formatter is not used for two reasons. The formatter may write one millisecond
  /// too few. It also counts days before 1582 in the Julian calendar, but ISO 8601 uses the
  /// Gregorian calendar for those days too.
  public var iso8601: String {
    let (seconds, milliseconds) = Self.divide(self.milliseconds, by: 1000)
    let (days, secondOfDay) = Self.divide(seconds, by: 86_400)
    let date = Self.date(daysSince1970: days)

    var text = Self.text(ofYear: date.year)
    text += "-" + Self.padded(date.month, to: 2) + "-" + Self.padded(date.day, to: 2)
    text += "T" + Self.padded(secondOfDay / 3600, to: 2)
    text += ":" + Self.padded(secondOfDay / 60 % 60, to: 2)
    text += ":" + Self.padded(secondOfDay % 60, to: 2)
    if milliseconds != 0 { text += "." + Self.padded(milliseconds, to: 3) }
    return text + "Z"
  }

  /// Returns the Gregorian date of a day.
  ///
  /// In the computation each year starts in March, so that the leap day is the last day of a year.
  /// A cycle of 400 years always has 146,097 days.
  private static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let daysFromMarchOfYear0To1970: Int64 = 719_468
    let (cycle, dayOfCycle) = divide(days + daysFromMarchOfYear0To1970, by: 146_097)
    // Without `min`, the last day of a cycle would begin a fifth century, and the last day of a
    // leap period would begin a fifth year.
    let century = min(dayOfCycle / 36_524, 3)
    let dayOfCentury = dayOfCycle - century * 36_524
    let leapPeriod = dayOfCentury / 1461
    let dayOfPeriod = dayOfCentury - leapPeriod * 1461
    let yearOfPeriod = min(dayOfPeriod / 365, 3)
    let dayOfYear = dayOfPeriod - yearOfPeriod * 365

    var year = cycle * 400 + century * 100 + leapPeriod * 4 + yearOfPeriod
    var month: Int64 = 3
    var day = dayOfYear
    for length: Int64 in [31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31] {
      if day < length { break }
      day -= length
      month += 1
    }
    if month > 12 {
      month -= 12
      year += 1
    }
    return (year, month, day + 1)
  }

  /// Returns the year with four digits, or with a sign and at least six digits outside of 0 to
  /// 9999.
  private static func text(ofYear year: Int64) -> String {
    if (0...9999).contains(year) { return padded(year, to: 4) }
    return (year < 0 ? "-" : "+") + padded(Int64(year.magnitude), to: 6)
  }

  private static func padded(_ number: Int64, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// Divides and rounds down. The remainder is never negative.
  private static func divide(
    _ number: Int64, by divisor: Int64
  ) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
