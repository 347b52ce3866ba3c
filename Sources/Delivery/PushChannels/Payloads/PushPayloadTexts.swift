import CloudKitModel

/// The converter of values into the strings of one payload. The converter notes whether it cut a
/// string.
struct PushPayloadTexts {
  /// The greatest number of characters of a string, which is cut there; `nil` for no limit.
  let limit: Int?
  private(set) var areCut = false

  init(limit: Int?) {
    self.limit = limit
  }

  /// Returns the first characters of a text, up to the limit.
  ///
  /// A character is a grapheme cluster (Unicode Annex 29), so an emoji is never split.
  mutating func cut(_ text: String) -> String {
    // A text has at most as many characters as bytes, and to count the bytes takes no time.
    guard let limit, text.utf8.count > limit else { return text }
    let start = text.prefix(limit)
    if start.endIndex == text.endIndex { return text }
    areCut = true
    return String(start)
  }

  /// Returns a field's value as an argument of a localised string.
  ///
  /// - Strings are unchanged, but cut at the limit.
  /// - Integers are decimal.
  /// - Doubles are the shortest decimal text that gives the same number when it is parsed.
  /// - Times are ISO 8601 in UTC.
  /// - A missing value and a value of any other type are the empty string, so that later arguments
  ///   keep their positions.
  mutating func argument(_ value: RecordValue?) -> String {
    switch value {
    case .string(let text): cut(text)
    case .int64(let number): String(number)
    case .double(let number): number.description
    case .timestamp(let moment): moment.iso8601
    case .bytes, .preciseTimestamp, .location, .reference, .asset, .list, nil: ""
    }
  }
}
