import Foundation

/// A way in which an input can grow so that careless work on it grows faster than the input.
struct HostileShape: Sendable {
  /// The growing part: a text or a JSON value.
  private enum Growth: Sendable {
    /// The text: the beginning, then the unit as often as fits.
    case text(beginning: String, unit: String)
    /// A text of numbered words, all different.
    case numbered(String)
    /// JSON: `open` + elements, made of their numbers, with commas between + `close`.
    case container(open: String, close: String, element: @Sendable (_ number: Int) -> String)
    /// JSON: `open` as often as fits, then as many `close`.
    case nest(open: String, close: String)
    /// A JSON number: the beginning, then digits.
    case number(String)
  }

  let name: String
  private let growth: Growth

  /// Whether the shape once took the square of its size somewhere, so that it is tried more often.
  var isNotorious: Bool {
    ["mixed marks", "decomposed letters", "dots", "an object of falling keys"].contains(name)
  }

  /// Whether the shape is a text, so that it also fits where no JSON stands.
  var isText: Bool {
    switch growth {
    case .text, .numbered: true
    case .container, .nest, .number: false
    }
  }

  /// A text of about `size` bytes; for a shape that is no text, its JSON.
  func text(size: Int) -> String {
    switch growth {
    case .text(let beginning, let unit):
      return beginning + String(repeating: unit, count: max(1, size / unit.utf8.count))
    case .numbered(let word):
      let count = max(1, size / (word.utf8.count + 5))
      return (0..<count).map { word + String($0, radix: 36) }.joined(separator: " ")
    case .container(let open, let close, let element):
      let count = max(1, size / (element(9_999).utf8.count + 1))
      return open + (0..<count).map(element).joined(separator: ",") + close
    case .nest(let open, let close):
      let count = max(1, size / (open.utf8.count + close.utf8.count))
      return String(repeating: open, count: count) + String(repeating: close, count: count)
    case .number(let beginning):
      return beginning + String(repeating: "7", count: size)
    }
  }

  /// A JSON value of about `size` bytes.
  func json(size: Int) -> String {
    guard isText else { return text(size: size) }
    return Self.literal(text(size: size))
  }

  /// A JSON string; what is no ASCII stands as it is.
  static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": literal += "\\\""
      case "\\": literal += "\\\\"
      case _ where scalar.value < 0x20: literal += String(format: "\\u%04x", scalar.value)
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }

  private static func text(_ name: String, _ unit: String, after beginning: String = "") -> Self {
    HostileShape(name: name, growth: .text(beginning: beginning, unit: unit))
  }

  private static func container(
    _ name: String, _ open: String, _ close: String,
    _ element: @escaping @Sendable (_ number: Int) -> String
  ) -> Self {
    HostileShape(name: name, growth: .container(open: open, close: close, element: element))
  }

  /// Numbers in an order that sorts badly where elements are inserted one by one.
  @Sendable private static func falling(_ number: Int) -> String { String(9_999_999 - number) }

  static let all: [HostileShape] = [
    // Texts.
    text("a letter", "a"),
    text("digits", "7"),
    text("spaces", " "),
    text("mixed marks", "\u{301}\u{323}", after: "e"),
    text("one mark", "\u{301}", after: "e"),
    text("marks of Thai", "\u{E38}\u{E48}", after: "\u{E01}"),
    text("marks that are two", "\u{F73}"),
    text("decomposed letters", "e\u{301}"),
    text("letters that fold to two", "ß"),
    text("ideographs", "漢"),
    text("vowels of Hangul", "\u{1161}"),
    text("people joined", "\u{1F468}\u{200D}"),
    text("flags", "\u{1F1E9}"),
    text("letters that become many", "\u{FDFA}"),
    text("the same word", "word "),
    HostileShape(name: "different words", growth: .numbered("w")),
    HostileShape(name: "different accented words", growth: .numbered("é")),
    text("dots", "a."),
    text("parentheses", "("),
    text("comparisons", "a == 1 AND ", after: "a == 1 AND "),
    text("lines", "a\n"),
    text("slashes", "a/"),
    text("percent signs", "%41"),
    text("broken percent signs", "%"),
    text("quotes", "\\\""),
    text("control characters", "\u{1}"),
    text("pairs", "a=b&"),
    text("pairs of a cookie", "a=b; "),
    text("commas and colons", "a:1,"),
    text("hyphens", "--\r\n"),
    text("base64", "QUFB"),
    // JSON.
    HostileShape(name: "arrays in arrays", growth: .nest(open: "[", close: "]")),
    HostileShape(name: "objects in objects", growth: .nest(open: "{\"a\":", close: "}")),
    container("deep arrays side by side", "[", "]") { _ in
      String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
    },
    container("an object of falling keys", "{", "}") { "\"k\(falling($0))\":{\"value\":1}" },
    container("an object of one key", "{", "}") { _ in "\"k\":{\"value\":1}" },
    container("keys with escapes", "{", "}") { "\"\\u006b\(falling($0))\":1" },
    container("keys that begin alike", "{", "}") {
      "\"\(String(repeating: "k", count: 200))\(falling($0))\":1"
    },
    container("keys of marks", "{", "}") {
      "\"e\(String(repeating: "\u{301}\u{323}", count: 100))\($0)\":1"
    },
    container("keys that normalize alike", "{", "}") {
      $0 % 2 == 0 ? "\"e\u{301}\":1" : "\"é\":1"
    },
    container("empty objects", "[", "]") { _ in "{}" },
    container("nulls", "[", "]") { _ in "null" },
    container("falling numbers", "[", "]", falling),
    container("different strings", "[", "]") { "\"s\(falling($0))\"" },
    container("names of records", "[", "]") { "{\"recordName\":\"n\(falling($0))\"}" },
    HostileShape(name: "a long number", growth: .number("1")),
    HostileShape(name: "a long fraction", growth: .number("0.")),
    HostileShape(name: "a long exponent", growth: .number("1e-")),
  ]
}
