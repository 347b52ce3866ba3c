import PredicateLanguage
import PropertyTesting
import Testing

@testable import CloudKit

struct PredicateParsingTests {
  struct Case: Sendable {
    var format: String
    var canonical: String
    init(_ format: String, _ canonical: String) {
      self.format = format
      self.canonical = canonical
    }
  }

  static let cases = [
    Case("TRUEPREDICATE", "TRUEPREDICATE"),
    Case("falsepredicate", "FALSEPREDICATE"),
    Case("a = 1", "a == 1"),
    Case("a == 1", "a == 1"),
    Case("a <> 'x'", "a != \"x\""),
    Case("a != -2", "a != -2"),
    Case("a < 1.5", "a < 1.5"),
    Case("a =< 1", "a <= 1"),
    Case("a <= 1", "a <= 1"),
    Case("a => 1e3", "a >= 1000.0"),
    Case("a >= .5", "a >= 0.5"),
    Case("a > 9223372036854775807", "a > 9223372036854775807"),
    Case("a > -9223372036854775808", "a > -9223372036854775808"),
    Case("a between {1, 2}", "a BETWEEN {1, 2}"),
    Case("a IN {'x','y'}", "a IN {\"x\", \"y\"}"),
    Case("a in {}", "a IN {}"),
    Case("a Contains[CD] \"x\"", "a CONTAINS[cd] \"x\""),
    Case("a BEGINSWITH[dc]'x'", "a BEGINSWITH[cd] \"x\""),
    Case("a ==[c] 'x'", "a ==[c] \"x\""),
    Case("a endswith 'x'", "a ENDSWITH \"x\""),
    Case("a like 'x*'", "a LIKE \"x*\""),
    Case("a matches '^x'", "a MATCHES \"^x\""),
    Case("self contains 'two words'", "SELF CONTAINS \"two words\""),
    Case("self[first] contains 'x'", "SELF[first] CONTAINS \"x\""),
    Case("self[0].a == 1", "SELF[0].a == 1"),
    Case("self.a[0] == 1", "a[0] == 1"),
    Case("a[\u{5B2}b][c] == 1", "a[\u{5B2}b][c] == 1"),
    Case("self.allTokens tokenmatches[cdl] 'a b'", "allTokens TOKENMATCHES[cdl] \"a b\""),
    Case("ANY tags == 'x'", "ANY tags == \"x\""),
    Case("some tags in {'x'}", "ANY tags IN {\"x\"}"),
    Case("ALL tags == 'x'", "ALL tags == \"x\""),
    Case("none tags == 'x'", "NONE tags == \"x\""),
    Case("a == 1 AND b == 2 && c == 3", "a == 1 AND b == 2 AND c == 3"),
    Case("a == 1 or b == 2 || c == 3", "a == 1 OR b == 2 OR c == 3"),
    Case("a == 1 OR b == 2 AND c == 3", "a == 1 OR (b == 2 AND c == 3)"),
    Case("(a == 1 OR b == 2) AND c == 3", "(a == 1 OR b == 2) AND c == 3"),
    Case("((a == 1))", "a == 1"),
    Case("NOT a == 1", "NOT a == 1"),
    Case("!(a == 1 and b == 2)", "NOT (a == 1 AND b == 2)"),
    Case("not not a == 1", "NOT NOT a == 1"),
    Case("a == nil", "a == nil"),
    Case("a != NULL", "a != nil"),
    Case("a == YES AND b == false", "a == 1 AND b == 0"),
    Case("5 < a", "5 < a"),
    Case("'x' IN tags", "\"x\" IN tags"),
    Case("a.b.c == 1", "a.b.c == 1"),
    Case("a.@count > 0 AND b[FIRST] == 1", "a.@count > 0 AND b[FIRST] == 1"),
    Case("#in == 1", "#in == 1"),
    Case("a > now()", "a > now()"),
    Case("a > CAST(5, 'NSDate')", "a > CAST(5.000000, \"NSDate\")"),
    Case(
      "distanceToLocation:fromLocation:(p, CAST({1, -2.5}, 'CLLocation')) < 10",
      "distanceToLocation:fromLocation:(p, CAST({1.0, -2.5}, \"CLLocation\")) < 10"),
    Case("(a) == (1)", "a == 1"),
    Case("a + 1 * 2 == 3", "add:to:(a, multiply:by:(1, 2)) == 3"),
    Case("(a + 1) * 2 == 3", "multiply:by:(add:to:(a, 1), 2) == 3"),
    Case("-a == 2 ** 3 %% 2", "negate:(a) == modulus:by:(raise:toPower:(2, 3), 2)"),
    Case("a == $who", "a == $who"),
    Case(
      "SUBQUERY(list, $x, $x == 1 OR $x == 2).@count == 0",
      "SUBQUERY(list, $x, $x == 1 OR $x == 2).@count == 0"),
    Case(#"a == 'it\'s \"q\" \\ \n \u00e9'"#, #"a == "it's \"q\" \\ \n é""#),
    Case("a == '%@'", "a == \"%@\""),
    Case(" a\n==\t1 ", "a == 1"),
    Case("___modTime > 5", "___modTime > 5"),
  ]

  @Test("Each construct has one canonical print, which reads as itself", arguments: cases.indices)
  func canonical(index: Int) throws {
    let node = try PredicateParser.parse(Self.cases[index].format)
    let printed = PredicatePrinter.text(node)
    #expect(printed == Self.cases[index].canonical)
    #expect(try PredicateParser.parse(printed) == node)
  }

  @Test("Arguments take the place of their marks")
  func arguments() {
    let date = Date(timeIntervalSinceReferenceDate: 650_000_000.5)
    let id = CKRecord.ID(recordName: "r")
    let optional: String? = "x"
    let nothing: String? = nil
    let cases: [(String, [Any], String)] = [
      ("a == %@", ["x"], "a == \"x\""),
      ("a == %@", ["x" as NSString], "a == \"x\""),
      ("a == %@", [3], "a == 3"),
      ("a == %@", [NSNumber(value: 3.0)], "a == 3.0"),
      ("a == %@", [true], "a == 1"),
      ("a == %@", [CGFloat(2)], "a == 2.0"),
      ("a == %@", [optional as Any], "a == \"x\""),
      ("a == %@", [nothing as Any], "a == nil"),
      ("a == %@", [NSNull()], "a == nil"),
      ("a == %@", ["xyz".dropFirst()], "a == \"yz\""),
      ("a > %@", [date], "a > CAST(650000000.500000, \"NSDate\")"),
      ("a > %@", [date as NSDate], "a > CAST(650000000.500000, \"NSDate\")"),
      ("a == %@", [Data([1, 2])], "a == CAST(\"AQI=\", \"NSData\")"),
      ("a IN %@", [["x", "y"]], "a IN {\"x\", \"y\"}"),
      ("a IN %@", [[1, 2] as NSArray], "a IN {1, 2}"),
      ("a IN %@", [Set(["y", "x"])], "a IN {\"x\", \"y\"}"),
      ("a IN {%@, %d}", [1, 2], "a IN {1, 2}"),
      ("%K == %@", ["key", "x"], "key == \"x\""),
      ("%K == 1", ["in"], "#in == 1"),
      ("%K == 1", ["a.b"], "a.b == 1"),
      ("a == %d AND b == %i", [1, Int64(2)], "a == 1 AND b == 2"),
      (
        "a == %u OR a == %ld OR a == %lu OR a == %lld OR a == %llu", [1, 2, 3, 4, UInt64(5)],
        "a == 1 OR a == 2 OR a == 3 OR a == 4 OR a == 5"
      ),
      (
        "a == %f AND b == %g AND c == %lf", [1.5, 2, Float(3)],
        "a == 1.5 AND b == 2.0 AND c == 3.0"
      ),
      (
        "a == %@", [id],
        "a == CAST({\"r\", \"_defaultZone\", \"__defaultOwner__\"}, \"CKReference\")"
      ),
      (
        "a == %@", [CKRecord.Reference(recordID: id, action: .deleteSelf)],
        "a == CAST({\"r\", \"_defaultZone\", \"__defaultOwner__\"}, \"CKReference\")"
      ),
      (
        "a == %@", [CKRecord(recordType: "T", recordID: id)],
        "a == CAST({\"r\", \"_defaultZone\", \"__defaultOwner__\"}, \"CKReference\")"
      ),
      (
        "distanceToLocation:fromLocation:(p, %@) < %f",
        [CLLocation(latitude: 1, longitude: -2.5), 10],
        "distanceToLocation:fromLocation:(p, CAST({1.0, -2.5}, \"CLLocation\")) < 10.0"
      ),
      ("a == %@", ["x", "ignored"], "a == \"x\""),
    ]
    for (format, arguments, canonical) in cases {
      #expect(
        NSPredicate(format: format, argumentArray: arguments).canonicalFormat == canonical,
        "\(format)")
    }
  }

  @Test("A fault is shown with its place")
  func faults() {
    let cases: [(String, [Any], Int, String)] = [
      ("", [], 0, "expected a key or a value, found the end"),
      ("price ==", [], 8, "expected a value after '==', found the end"),
      ("price", [], 5, "expected a comparison such as '==', found the end"),
      ("price == 1 b", [], 11, "expected AND, OR or the end, found 'b'"),
      ("a == 'x", [], 5, "the string has no closing '"),
      ("a == 'x\\", [], 5, "the string ends after a backslash"),
      ("a == '\\u12'", [], 6, "expected four hexadecimal digits of a character"),
      ("a == 1 AND", [], 10, "expected a key or a value, found the end"),
      ("(a == 1", [], 7, "expected ')', found the end"),
      ("a == 1)", [], 6, "expected AND, OR or the end, found ')'"),
      ("a ==[x] 1", [], 5, "expected letters of 'c', 'd', 'l', 'n', 'w', found 'x'"),
      ("a ==[c 1", [], 7, "expected ']', found '1'"),
      ("a IN {1, 2", [], 10, "expected ',' or '}', found the end"),
      ("a == IN", [], 5, "expected a key or a value, found the keyword 'IN'"),
      ("AND == 1", [], 0, "expected a key or a value, found the keyword 'AND'"),
      ("a == %@", [], 5, "there is no argument for '%@'"),
      ("a == %d", ["x"], 5, "the argument for '%d' is of type String, which does not match"),
      ("%K == 1", [7], 0, "the argument for '%K' is of type Int, which does not match"),
      ("a == %q", [], 5, "expected '@', 'K' or a number format after '%'"),
      ("a ? 1", [], 2, "unexpected character '?'"),
      ("a > 1e999", [], 4, "the number '1e999' is too large"),
      ("# == 1", [], 1, "expected a name after '#'"),
      ("a.  == 1", [], 4, "expected a key after '.', found '=='"),
      ("5.a == 1", [], 1, "only a key can have a key after it"),
      ("foo:bar == 1", [], 0, "expected '(' after the function's name 'foo:bar'"),
      (
        "self.foo:\u{5B2}bar == 1", [], 5,
        "expected a key after '.', found the function's name 'foo:\u{5B2}bar'"
      ),
      ("self.foo:bar == 1", [], 5, "expected a key after '.', found the function's name 'foo:bar'"),
    ]
    for (format, arguments, offset, reason) in cases {
      #expect(throws: PredicateFormatError(format: format, offset: offset, reason: reason)) {
        try PredicateParser.parse(format, arguments: arguments.map { PredicateArgument($0) })
      }
    }
  }

  @Test("A caret stands under the fault, in its line")
  func caret() {
    let error = #expect(throws: PredicateFormatError.self) {
      try PredicateParser.parse("é == 1 AND\nprice == )")
    }
    #expect(
      error?.description == """
        cannot parse the predicate format: expected a key or a value, found ')'
          price == )
                   ^
        """)
  }

  @Test("Nesting has a limit, so that no format exhausts the stack")
  func depth() throws {
    for (open, close) in [("(", ")"), ("NOT ", ""), ("!", "")] {
      let fine = String(repeating: open, count: 90) + "a == 1" + String(repeating: close, count: 90)
      _ = try PredicateParser.parse(fine)
      let deep =
        String(repeating: open, count: 5000) + "a == 1" + String(repeating: close, count: 5000)
      #expect(throws: PredicateFormatError.self) { try PredicateParser.parse(deep) }
    }
    for repeated in ["-", "{", "f(", "(1 + "] {
      let deep = "a == " + String(repeating: repeated, count: 5000)
      #expect(throws: PredicateFormatError.self) { try PredicateParser.parse(deep) }
    }
    let chain = "a == 1" + String(repeating: " + 1", count: 5000)
    #expect(throws: PredicateFormatError.self) { try PredicateParser.parse(chain) }
    let keys = "a" + String(repeating: ".a", count: 100)
    _ = try PredicateParser.parse(keys + " == 1")
    let error = #expect(throws: PredicateFormatError.self) {
      try PredicateParser.parse(keys + ".a == 1")
    }
    #expect(error?.reason == "a key path has more than 100 keys")
  }

  @Test("A format with a fault stops the program")
  func trap() async {
    await #expect(processExitsWith: .failure) { _ = NSPredicate(format: "price ==") }
  }

  @Test("Ten thousand mutated formats are read or refused, and what is read prints as itself")
  func mutations() {
    let seed = UInt64(0x5EED)
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("abc=<>!&|(){}[],.'\"\\%@Kd#$:-+* \n09.eNOTAND\u{301}é")
    for round in 0..<10_000 {
      var text = Array(Self.cases[Int.random(in: 0..<Self.cases.count, using: &generator)].format)
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let place = Int.random(in: 0...text.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: text.insert(alphabet.randomElement(using: &generator)!, at: place)
        case 1 where place < text.count: text.remove(at: place)
        case 2 where place < text.count:
          text[place] = alphabet.randomElement(using: &generator)!
        default: text.append(contentsOf: text.prefix(place))
        }
      }
      let format = String(text)
      guard
        let node = try? PredicateParser.parse(
          format, arguments: [PredicateArgument("x"), PredicateArgument(1)])
      else { continue }
      let printed = PredicatePrinter.text(node)
      let again = try? PredicateParser.parse(printed)
      #expect(again == node, "seed \(seed), round \(round): \(format) printed as \(printed)")
    }
  }
}
