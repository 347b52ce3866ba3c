import CloudKitModel

/// Converts values into the strings of one payload, and notes whether one of them was cut.
struct PushPayloadTexts {
  /// The length in characters at which a string is cut; nil for no limit.
  let limit: Int?
  private(set) var areCut = false

  init(limit: Int?) {
    self.limit = limit
  }

  /// The first characters of a text, up to the limit. A character is a grapheme cluster (Unicode
  /// Annex 29), so an emoji is never split.
  mutating func cut(_ text: String) -> String {
    // A text has at most as many characters as bytes, and counting bytes is free.
    guard let limit, text.utf8.count > limit else { return text }
    let start = text.prefix(limit)
    if start.endIndex == text.endIndex { return text }
    areCut = true
    return String(start)
  }

  /// A field's value as an argument of a localised string: strings unchanged, integers in decimal,
  /// doubles in the shortest text that reads back, dates in ISO 8601 (UTC). Missing and other
  /// values give the empty string, so that later arguments keep their positions.
  mutating func argument(_ value: RecordValue?) -> String {
    switch value {
    case .string(let text): cut(text)
    case .int64(let number): String(number)
    case .double(let number): number.description
    case .timestamp(let moment): moment.iso8601
    case .bytes, .location, .reference, .asset, .list, nil: ""
    }
  }
}
