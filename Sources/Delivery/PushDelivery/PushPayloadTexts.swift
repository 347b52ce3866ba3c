import CloudKitModel

/// Turns values into the strings of one payload, and notes whether one of them lost its end.
struct PushPayloadTexts {
  /// Characters of a string before it is cut; nil for no limit.
  let limit: Int?
  private(set) var areCut = false

  init(limit: Int?) {
    self.limit = limit
  }

  /// The first characters, as many as the limit allows. A character is what a person sees as one (a
  /// grapheme cluster, Unicode Annex 29), so an emoji is never cut in two.
  mutating func cut(_ text: String) -> String {
    // No text has more characters than bytes, and counting bytes is free.
    guard let limit, text.utf8.count > limit else { return text }
    let start = text.prefix(limit)
    if start.endIndex == text.endIndex { return text }
    areCut = true
    return String(start)
  }

  /// A field's value as an argument of a localised string: strings as they are, integers in
  /// decimal, doubles in the shortest form that reads back, dates in ISO 8601 (UTC). A missing
  /// value, and one that has no such form, is the empty string, so that the arguments behind it
  /// keep their places.
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
