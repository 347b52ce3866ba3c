import Foundation
import PropertyTesting
import Testing

@testable import StringTables

struct StringsFileTests {
  private func read(_ text: String) throws -> [String: String] {
    try StringsFile(Data(text.utf8), path: "x.strings").strings
  }

  @Test("pairs, comments, words without quotes and keys without a text are read")
  func reads() throws {
    #expect(
      try read(
        """
        /* The first.
           "no" = "pair"; */
        "a key" = "Grüße ☃"; // "no" = "pair";
        plain.key-1 = value/2;'single' = 'with "double"';
        "its own text";
        "a key" = "the last counts";
        """) == [
          "a key": "the last counts", "plain.key-1": "value/2", "single": "with \"double\"",
          "its own text": "its own text",
        ])
    #expect(try read("") == [:])
    #expect(try read(" // nothing") == [:])
  }

  @Test("escapes are read")
  func escapes() throws {
    let text = #""k" = "\"\\\n\t\r\a\b\f\v\'\U0041\u00e9\UD83D\uDE00\U9!\101\q";"#
    #expect(try read(text) == ["k": "\"\\\n\t\r\u{7}\u{8}\u{c}\u{b}'Aé😀\u{9}!Aq"])
  }

  @Test("UTF-8 and UTF-16 of both orders are read, with a byte order mark")
  func encodings() throws {
    let text = "\"k\" = \"Grüße 😀\";"
    let big: [UInt8] =
      [0xFE, 0xFF]
      + text.utf16.flatMap { unit -> [UInt8] in
        [UInt8(unit >> 8), UInt8(unit & 0xFF)]
      }
    let little = stride(from: 0, to: big.count, by: 2).flatMap { [big[$0 + 1], big[$0]] }
    for data in [Data(text.utf8), Data("\u{FEFF}\(text)".utf8), Data(little), Data(big)] {
      #expect(try StringsFile(data, path: "x").strings == ["k": "Grüße 😀"])
    }
  }

  @Test(
    "the property lists of built bundles are read",
    arguments: [
      PropertyListSerialization.PropertyListFormat.xml, .binary,
    ])
  func propertyLists(format: PropertyListSerialization.PropertyListFormat) throws {
    func data(_ list: Any) throws -> Data {
      try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
    }
    let strings = ["k": "Grüße", "l": "%@"]
    #expect(try StringsFile(try data(strings), path: "x").strings == strings)
    let error = #expect(throws: PetrelStringsError.self) {
      try StringsFile(try data(["k": 5]), path: "x")
    }
    #expect(error?.description == "x: must be a dictionary whose values are all texts")
  }

  @Test(
    "what is wrong is said with the line and the rule",
    arguments: [
      ("\"a\" = \"b\";\n\n\"c\" = \"d\"\n\"e\" = \"f\";", "x:4: a ';' is missing behind 'c'"),
      ("\n\"a\" = \"b\n\n;", "x:2: a text begins here and has no closing quote"),
      ("\n/* a\n\n", "x:2: a comment begins here and has no '*/'"),
      ("\n= b;", "x:2: a key is missing"), ("a =\n;", "x:2: the text of 'a' is missing"),
      ("\"a\" = \"\\Ux\";", "x:1: '\\U' needs one to four hexadecimal digits"),
      (
        "\"a\" = \"\\377\";",
        "x:1: octal escapes end with '\\177'; write '\\U' with hexadecimal digits"
      ),
      ("\"a\" = \"\\", "x:1: the file ends behind a backslash"),
    ])
  func mistakes(text: String, description: String) {
    let error = #expect(throws: PetrelStringsError.self) {
      try StringsFile(Data(text.utf8), path: "x")
    }
    #expect(error?.description == description)
  }

  @Test("a file in another encoding is said to be one")
  func otherEncoding() {
    let error = #expect(throws: PetrelStringsError.self) {
      try StringsFile(Data([0x22, 0xE9, 0x22, 0x3B]), path: "x")
    }
    #expect(error?.description == "x: must be UTF-8, or UTF-16 with a byte order mark")
  }

  @Test("a file means what Foundation reads in it")
  func asFoundation() throws {
    for seed in Seeds.some(500) {
      var random = SeededGenerator(seed: seed)
      var text = ""
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        text += random.pick(["", " ", "\n", "\t// a \"b\n", "/* \"a\" = b; */", "\r\n"])
        // A slash is part of a word, so a comment needs a space before it.
        text += token(&random) + random.pick(["", " ", " /**/"])
        if random.chance(4, in: 5) { text += "=" + random.pick(["", " "]) + token(&random) }
        text += ";"
      }
      let expected =
        try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
        as? [String: String]
      #expect(try read(text) == expected, "seed \(seed): \(text)")
    }
  }

  private func token(_ random: inout SeededGenerator) -> String {
    if random.chance(1, in: 4) { return random.pick(["a", "b.c", "K_1", "x-y:z", "$5"]) }
    let parts = [
      "a", "b", " ", "é", "😀", "\n", "\\n", "\\\"", "\\\\", "\\U0041", "\\Ue9 ", "\\101", "\\7",
      "\\'", "\\q", "=", ";", "//", "/*", "%@",
    ]
    let quote = random.pick(["\"", "'"])
    return quote
      + (0..<Int.random(in: 0...5, using: &random)).map { _ in random.pick(parts) }
      .joined() + quote
  }
}
