import CloudKitModel

/// How values become text in a payload.
enum PushPayloadText {
  /// The first characters, as many as the limit allows. A character is what a person sees as one (a
  /// grapheme cluster, Unicode Annex 29), so an emoji is never cut in two.
  static func cut(_ text: String, limit: Int?) -> String {
    // No text has more characters than bytes, and counting bytes is free.
    guard let limit, text.utf8.count > limit else { return text }
    return String(text.prefix(limit))
  }

  /// A field's value as an argument of a localised string: strings as they are, integers in
  /// decimal, doubles in the shortest form that reads back, dates in ISO 8601 (UTC). A missing
  /// value, and one that has no such form, is the empty string, so that the arguments behind it
  /// keep their places.
  static func argument(_ value: RecordValue?, limit: Int?) -> String {
    switch value {
    case .string(let text): cut(text, limit: limit)
    case .int64(let number): String(number)
    case .double(let number): number.description
    case .timestamp(let moment): moment.iso8601
    case .bytes, .location, .reference, .asset, .list, nil: ""
    }
  }
}
