import PropertyTesting
import Testing

@testable import CloudKitModel

struct TextTokensTests {
  @Test(
    "Words are runs of letters and digits",
    arguments: [
      ("deep sea", ["deep", "sea"]), ("", []), ("  ,.;! ", []), ("a1b2 42", ["a1b2", "42"]),
      ("mail@example.com", ["mail", "example", "com"]), ("don't", ["don", "t"]),
      ("snake_case-kebab", ["snake", "case", "kebab"]), ("sea sea SEA", ["sea"]),
      ("tab\tand\nline", ["tab", "line"]), ("3.14", ["3", "14"]),
    ] as [(String, Set<String>)])
  func words(text: String, tokens: Set<String>) {
    #expect(TextTokens(text).tokens == tokens)
  }

  @Test("Stop words are left out, in any case")
  func stopWords() {
    #expect(TextTokens.stopWords.count == 33)
    #expect(TextTokens(TextTokens.stopWords.joined(separator: " ")).tokens.isEmpty)
    #expect(TextTokens("The AND Of other").tokens == ["other"])
    #expect(TextTokens("thee ands").tokens == ["thee", "ands"])
  }

  @Test(
    "Case and diacritics do not count, however they are written",
    arguments: [
      ("\u{C9}cole", "ecole"), ("E\u{301}COLE", "ecole"), ("\u{E9}cole", "e\u{301}cole"),
      ("stra\u{DF}e", "STRASSE"), ("\u{130}stanbul", "istanbul"), ("\u{FB01}n", "FIN"),
      ("\u{39F}\u{394}\u{39F}\u{3A3}", "\u{3BF}\u{3B4}\u{3BF}\u{3C2}"), ("й", "и\u{306}"),
      ("\u{304C}", "\u{304B}\u{3099}"), ("\u{D55C}", "\u{1112}\u{1161}\u{11AB}"),
    ])
  func folding(left: String, right: String) {
    #expect(TextTokens(left).tokens == TextTokens(right).tokens)
    #expect(TextTokens(left).tokens.count == 1)
  }

  @Test("Marks stay in their word and do not cut it")
  func marks() {
    #expect(TextTokens("re\u{301}sume\u{301} two").tokens == ["resume", "two"])
    #expect(TextTokens("हिन्दी भाषा").tokens == ["हिन्दी", "भाषा"])
    #expect(TextTokens("שָׁלוֹם עולם").tokens.count == 2)
  }

  @Test("A run without spaces is one token in scripts that write none")
  func nonLatin() {
    #expect(TextTokens("東京 タワー").tokens == ["東京", "タワー"])
    #expect(TextTokens("Москва, Россия").tokens == TextTokens("МОСКВА россия").tokens)
    #expect(TextTokens("٤٢").tokens == ["٤٢"])
  }

  @Test("Symbols and emoji are no words, nor are the marks that stand on them")
  func symbols() {
    #expect(TextTokens("🌋 + €").tokens.isEmpty)
    #expect(TextTokens("❤\u{FE0F} ☀\u{FE0F}").tokens.isEmpty)
    #expect(TextTokens("sea🌊sand").tokens == ["sea", "sand"])
  }

  @Test("Strings and lists of strings have tokens, other values have none")
  func values() {
    #expect(TextTokens.of(.string("Deep sea")) == ["deep", "sea"])
    #expect(TextTokens.of(.strings("Deep", "sea deep")) == ["deep", "sea"])
    #expect(TextTokens.of(.int64(5)).isEmpty)
    #expect(TextTokens.of(.integers(5)).isEmpty)
    #expect(TextTokens.of(.target("deep")).isEmpty)
  }

  /// Texts of pieces that meet each other at every kind of border.
  private static let pieces =
    ["sea", "Sea", "SEA", "the", "The", "a1", "42", "x", "Z", "these", "thesea", "without"]
    + [
      "", " ", "  ", "-", "_", "'", ".", "@", "[", "`", "{", "/", ":", "\t", "\n", "\r\n", "\u{0}",
      "\u{7F}",
    ]

  @Test(
    "plain texts have the same words by the short way as by the rules", arguments: Seeds.some(8))
  func plainWords(_ seed: Int) {
    var random = SeededGenerator(seed: seed)
    for round in 0..<2_000 {
      let text = (0..<Int.random(in: 0...9, using: &random))
        .map { _ in random.pick(Self.pieces) }.joined()
      var visited: [String] = []
      let isPlain = TextTokens.visitPlainWords(of: text) {
        visited.append(String(decoding: $0, as: UTF8.self))
        return true
      }
      let words = TextTokens.words(of: text)
      let comment: Comment = "seed \(seed), round \(round): \(text.debugDescription)"
      #expect(isPlain, comment)
      #expect(Set(visited) == words, comment)
      #expect(TextTokens(text).tokens == words, comment)
      #expect(visited == Self.runs(of: text).filter { words.contains($0) }, comment)
    }
  }

  /// The runs of letters and digits of an ASCII text in their order, in lower case.
  private static func runs(of text: String) -> [String] {
    text.unicodeScalars.split { !($0.properties.isAlphabetic || ("0"..."9").contains($0)) }
      .map { String($0).lowercased() }
  }

  @Test("other texts go by the rules, whatever is plain in them", arguments: Seeds.some(8))
  func otherWords(_ seed: Int) {
    var random = SeededGenerator(seed: seed)
    let foreign = [
      "é", "E\u{301}", "\u{301}", "İ", "ß", "東京", "٤٢", "🌋", "\u{FE0F}", "ﬁ", "\u{80}",
    ]
    for round in 0..<500 {
      var parts = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        random.pick(Self.pieces)
      }
      parts.insert(random.pick(foreign), at: Int.random(in: 0...parts.count, using: &random))
      let text = parts.joined()
      let comment: Comment = "seed \(seed), round \(round): \(text.debugDescription)"
      var count = 0
      let isPlain = TextTokens.visitPlainWords(of: text) { _ in
        count += 1
        return true
      }
      #expect(!isPlain && count == 0, comment)
      #expect(TextTokens(text).tokens == TextTokens.words(of: text), comment)
    }
  }

  @Test("a visitor of plain words ends the visit with any of them")
  func visitEnds() {
    var visited: [String] = []
    let isPlain = TextTokens.visitPlainWords(of: "Deep sea, deep water") { word in
      visited.append(String(decoding: word, as: UTF8.self))
      return visited.count < 2
    }
    #expect(!isPlain)
    #expect(visited == ["deep", "sea"])
  }
}
