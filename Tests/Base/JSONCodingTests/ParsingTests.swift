import Foundation
import JSONCoding
import Testing

struct ParsingTests {
  @Test(
    "Each kind of value, alone or in a container",
    arguments: [
      ("null", .null), ("true", true), ("false", false), ("\"x\"", "x"), ("[]", []), ("{}", [:]),
      (" [1, \"a\", null, [true]] ", [1, "a", .null, [true]]),
      ("{\"a\": {\"b\": [0]}, \"c\": false}", ["a": ["b": [0]], "c": false]),
    ] as [(String, JSONValue)])
  func kinds(text: String, value: JSONValue) throws {
    #expect(try JSONValue(parsing: text) == value)
  }

  @Test("The numbers 0 and 1 are not booleans, and booleans are not numbers")
  func booleans() throws {
    #expect(try JSONValue(parsing: "[0,1,true,false]") == [.int(0), .int(1), true, false])
    #expect(try JSONValue(parsing: "true") != .int(1))
  }

  @Test(
    "Whole numbers are integers, anything with a point or an exponent is a double",
    arguments: [
      ("5", .int(5)), ("5.0", .double(5)), ("5e0", .double(5)), ("1E2", .double(100)),
      ("-7", .int(-7)), ("0", .int(0)), ("-0", .int(0)), ("0.5", .double(0.5)),
      ("2147483648", .int(2_147_483_648)),
      ("9007199254740993", .int(9_007_199_254_740_993)),
      ("-9007199254740993", .int(-9_007_199_254_740_993)),
      ("9223372036854775807", .int(.max)),
      ("-9223372036854775807", .int(-.max)),
      ("-9223372036854775808", .int(.min)),
      ("5.00000000000000000000000", .double(5)),
      ("123456789012345680.000000", .double(123_456_789_012_345_680)),
    ] as [(String, JSONValue)])
  func numbers(text: String, value: JSONValue) throws {
    #expect(try JSONValue(parsing: text) == value)
    #expect(try JSONValue(parsing: "[\(text)]") == .array([value]))
  }

  @Test("A whole number beyond 64 bits is known as such, and a rounded one is no integer")
  func wholeNumbers() throws {
    func root(_ text: String) throws -> JSONNode { try JSONDocument(parsing: Data(text.utf8)).root }
    for text in [
      "9223372036854775808", "-9223372036854775809", "1" + String(repeating: "0", count: 30),
    ] {
      #expect(
        try root(text).isWholeBeyond64Bits
          && root("[\(text)]").elements?[0].isWholeBeyond64Bits == true)
    }
    for text in [
      "9223372036854775807", "1.5", "9223372036854775808.0", "1e30", "1E30", "\"1\"", "0",
    ] {
      #expect(try !root(text).isWholeBeyond64Bits)
    }
    for text in ["9007199254740993.0", "9007199254740992.0", "-9007199254740993e0", "1e18"] {
      #expect(try root(text).int == nil && JSONValue(parsing: text).int == nil, "\(text)")
    }
    #expect(try root("9007199254740991.0").int == 9_007_199_254_740_991)
  }

  @Test("An integer beyond 64 bits is none, however near")
  func integersBeyond() throws {
    for text in ["-9223372036854775809", "9223372036854775808", "-9223372036854776000"] {
      #expect(try JSONValue(parsing: text).int == nil, "\(text)")
      #expect(try JSONDocument(parsing: Data(text.utf8)).root.int == nil, "\(text)")
    }
    for text in ["-9223372036854775808", "9223372036854775807"] {
      #expect(try JSONValue(parsing: text).int == Int64(text))
      #expect(try JSONDocument(parsing: Data(text.utf8)).root.int == Int64(text))
    }
    #expect(try JSONValue(parsing: "1.5e3").int == 1500)
  }

  @Test("Minus zero keeps its sign as a double")
  func minusZero() throws {
    let double = try #require(try JSONValue(parsing: "-0.0").double)
    #expect(double == 0 && double.sign == .minus)
  }

  @Test(
    "Integers beyond Int64 become the nearest double",
    arguments: [
      "9223372036854775808", "-9223372036854775809", "18446744073709551615",
      "18446744073709551616", "123456789012345678901234567890",
      String(repeating: "1", count: 60), String(repeating: "1", count: 200),
    ])
  func bigIntegers(text: String) throws {
    #expect(try JSONValue(parsing: text) == .double(Double(text)!))
  }

  @Test(
    "Doubles are read exactly, however many digits they have",
    arguments: [
      "0.1", "0.30000000000000004", "0.1234567890123456789", "1234567890.1234567890123",
      "1.7976931348623157e308", "2.2250738585072014e-308", "5e-324", "-1e-7", "1e+16",
      "3.141592653589793238462643383279",
    ])
  func doubles(text: String) throws {
    #expect(try JSONValue(parsing: text) == .double(Double(text)!))
  }

  @Test("Escapes and surrogate pairs are decoded")
  func escapes() throws {
    let text = #""\"\\\/\b\f\n\r\t\u0041\u00e9\u0000\ud83c\udf0b""#
    let expected = "\"\\/\u{8}\u{C}\n\r\tA\u{E9}\u{0}\u{1F30B}"
    let string = try #require(try JSONValue(parsing: text).string)
    #expect(Array(string.utf8) == Array(expected.utf8))
  }

  @Test("Composed and decomposed letters stay as they are written")
  func normalization() throws {
    let string = try #require(try JSONValue(parsing: "\"e\u{301}\"").string)
    #expect(Array(string.utf8) == [0x65, 0xCC, 0x81])
  }

  @Test(
    "Malformed texts are refused",
    arguments: [
      "", " ", "{", "[", "]", "{\"a\" 1}", "{\"a\":}", "{1:2}", "[1 2]", "nul", "True", "'a'",
      "\"abc", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\u{1}\"", "01", "1.", ".5", "+1", "NaN",
      "Infinity", "[1]x", "1e400", "{\"a\":1", "--1", "// no\n1",
    ])
  func malformed(text: String) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    #expect(error?.description.hasPrefix("not valid JSON: ") == true)
  }

  @Test(
    "Errors name the place where the parser knows it",
    arguments: [("[1 2]", 3), ("{\"a\" 1}", 5), ("[1]x", 3), ("[\"\\x\"]", 2)])
  func places(text: String, place: Int) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    #expect(error?.description.contains("around character \(place)") == true)
  }

  @Test(
    "Errors in a text of several lines name line and column",
    arguments: [
      ("[1 2]", "line 1, column 4"), ("{\n  \"a\": 1,\n  \"b\" 2\n}", "line 3, column 7"),
      ("[1,\n\nx]", "line 3, column 1"),
    ])
  func lines(text: String, place: String) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    let description = error?.description(in: Data(text.utf8))
    #expect(description?.hasSuffix(" around \(place)") == true, "\(description ?? "")")
  }

  @Test("Bytes that are not UTF-8 are refused")
  func encoding() {
    #expect(throws: JSONError.self) { try JSONValue(parsing: Data([0x22, 0xFF, 0x22])) }
    #expect(throws: JSONError.self) { try JSONValue(parsing: Data([0x22, 0xC3, 0x22])) }
  }

  @Test("Nesting is followed to 500 levels and refused, not crashed on, at 100,000")
  func nesting() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    var value = try JSONValue(parsing: nested(500))
    var depth = 1
    while let inner = value.array?.first {
      value = inner
      depth += 1
    }
    #expect(depth == 500)
    #expect(throws: JSONError.self) { try JSONValue(parsing: nested(100_000)) }
    #expect(throws: JSONError.self) {
      try JSONValue(parsing: String(repeating: "{\"a\":", count: 100_000))
    }
  }

  @Test(
    "A repeated member is named with its path",
    arguments: [
      (#"{"a": 1, "b": 2, "a": 3}"#, "a", 17),
      (#"{"records": [{"fields": {}}, {"fields": {"x": 1, "x": 1}}]}"#, "records[1].fields.x", 49),
      (#"[[1, {"é\n": 0, "\u00e9\u000a": 0}]]"#, "[0][1].é\n", 17),
    ])
  func repeatedMembers(text: String, path: String, position: Int) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    #expect(error?.rule == "the member '\(path)' is repeated")
    #expect(error?.position == position)
  }

  @Test("A repeated member is found among any number of members, at any place")
  func repeatedAmongMany() throws {
    for count in [2, 3, 12, 13, 14, 1_000] {
      let names = (0..<count).map { $0 % 3 == 0 ? "\\u006b\($0)" : "k\($0)" }
      let members = names.map { #""\#($0)": {"k1": [], "v": 1}"# }
      let text = "{" + members.joined(separator: ",") + "}"
      #expect(try JSONValue(parsing: text).object?.count == count)
      for place in Set([0, count / 2, count - 1]) {
        let repeated = "{" + (members + [#""k\#(place)": 0"#]).joined(separator: ",") + "}"
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: repeated) }
        #expect(error?.rule == "the member 'k\(place)' is repeated", "\(count)")
        #expect(error?.position == text.utf8.count)
      }
    }
  }

  @Test("A member's name has a limit, and a string has none")
  func longNames() throws {
    let name = String(repeating: "n", count: 512)
    #expect(try JSONValue(parsing: "{\"\(name)\": 1}") == [name: 1])
    #expect(try JSONValue(parsing: "[\"\(name)n\"]") == [.string(name + "n")])
    for text in ["{\"\(name)n\": 1}", "[{\"a\": {\"\(name)n\": 1}}]"] {
      let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
      #expect(error?.rule == "a member's name is longer than 512 bytes")
      #expect(
        error?.position
          == text.utf8.firstIndex(of: UInt8(ascii: "n")).map {
            text.utf8.distance(from: text.utf8.startIndex, to: $0) - 1
          })
    }
  }
}
