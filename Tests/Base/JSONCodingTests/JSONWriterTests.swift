import Foundation
import JSONCoding
import PropertyTesting
import Testing

struct JSONWriterTests {
  @Test("Objects and arrays get their commas, however they are nested")
  func containers() {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("name", "Suva")
      writer.key("empty")
      writer.object { _ in }
      writer.key("list")
      writer.array { writer in
        writer.value(1)
        writer.array { _ in }
        writer.object { $0.member("a", true) }
        writer.null()
      }
      writer.member("last", 2.5)
    }
    #expect(
      writer.text == #"{"name":"Suva","empty":{},"list":[1,[],{"a":true},null],"last":2.5}"#)
    let bytes = writer.bytes
    let data = writer.data
    #expect(data == Data(bytes))
  }

  @Test("Optional members are left out when nil")
  func optionalMembers() {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("a", ifPresent: nil as String?)
      writer.member("b", ifPresent: "x")
      writer.member("c", ifPresent: nil as [String]?)
      writer.member("d", ifPresent: ["y", "z"])
      writer.member("e", ifPresent: [] as [String])
    }
    #expect(writer.text == #"{"b":"x","d":["y","z"],"e":[]}"#)
  }

  @Test("Members of a value come in alphabetical order")
  func order() {
    let value: JSONValue = ["b": 1, "a": 2, "C": 3]
    #expect(value.text == #"{"C":3,"a":2,"b":1}"#)
  }

  @Test("Errors of the content come through")
  func errors() {
    struct Refusal: Error {}
    var writer = JSONWriter()
    #expect(throws: Refusal.self) { try writer.array { _ in throw Refusal() } }
  }

  @Test("Strings are quoted as a plain writer quotes them, wherever an escape stands")
  func quoting() {
    var random = SeededGenerator(seed: 23)
    let scalars = Array(
      "abcdefghij \"\\/\n\r\t\u{0}\u{1}\u{1F}\u{7F}\u{80}é\u{FFFF}🌋".unicodeScalars)
    for length in 0..<40 {
      for escape in 0..<max(1, length) {
        // One that may want an escape among plain letters, and now and then any others.
        let isWild = random.chance(1, in: 3)
        var text = String.UnicodeScalarView()
        for place in 0..<length {
          text.append(place == escape || isWild ? random.pick(scalars) : "x")
        }
        var expected = "\""
        for scalar in text {
          switch scalar {
          case "\"", "\\": expected += "\\" + String(scalar)
          case "\n": expected += "\\n"
          case "\r": expected += "\\r"
          case "\t": expected += "\\t"
          case ..."\u{1F}":
            let digits = String(scalar.value, radix: 16)
            expected += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
          default: expected.unicodeScalars.append(scalar)
          }
        }
        let written = JSONValue.string(String(text)).text
        #expect(written.utf8.elementsEqual((expected + "\"").utf8), "of \(Array(text))")
      }
    }
  }

  @Test("The text is whole however little room was reserved", arguments: [0, 1, 63, 64, 65, 5_000])
  func growing(reserved: Int) throws {
    var writer = JSONWriter(reserving: reserved)
    let integers = [0, -1, 9, -10, .max, .min] + (0..<500).map { $0 * 7_919 - 1_000_000 }
    writer.array { writer in
      for integer in integers {
        writer.value(Int64(integer))
        writer.value(String(repeating: "x", count: abs(integer % 100)))
      }
    }
    var expected: [String] = []
    for integer in integers {
      expected.append("\(integer)")
      expected.append("\"" + String(repeating: "x", count: abs(integer % 100)) + "\"")
    }
    #expect(writer.text == "[" + expected.joined(separator: ",") + "]")
  }

  @Test("Quotes, backslashes and every control character are escaped, nothing else is")
  func escapes() throws {
    #expect(
      JSONValue.string("\"\\/\n\r\t\u{0}\u{1F}\u{7F}é🌋\u{2028}").text
        == "\"\\\"\\\\/\\n\\r\\t\\u0000\\u001f\u{7F}é🌋\u{2028}\"")
    for scalar in (UInt8(0)..<0x20).map(UnicodeScalar.init) {
      let string = JSONValue.string("a\(Character(scalar))b")
      #expect(string.text.utf8.allSatisfy { $0 >= 0x20 })
      #expect(try JSONValue(parsing: string.text) == string)
    }
    #expect(JSONValue.object(["a\"\n": 1]).text == #"{"a\"\n":1}"#)
  }

  @Test(
    "Doubles are written in the shortest form that reads back, and stay doubles",
    arguments: [
      (5, "5.0"), (-0.0, "-0.0"), (0.1, "0.1"), (1e16, "1e+16"), (.leastNonzeroMagnitude, "5e-324"),
      (0.30000000000000004, "0.30000000000000004"),
      (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
    ] as [(Double, String)])
  func doubles(double: Double, text: String) throws {
    #expect(JSONValue.double(double).text == text)
    #expect(try JSONValue(parsing: text).double?.bitPattern == double.bitPattern)
  }

  @Test("NaN and the infinities become null")
  func notNumbers() {
    let value: JSONValue = [.double(.nan), .double(.infinity), .double(-.infinity), 1]
    #expect(value.text == "[null,null,null,1]")
  }

  @Test("Integers are written in full")
  func integers() {
    let value: JSONValue = [.int(.min), .int(.max), 0, -1]
    #expect(value.text == "[-9223372036854775808,9223372036854775807,0,-1]")
  }
}
