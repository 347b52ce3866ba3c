import Foundation
import JSONCoding
import Testing

@Suite("Writing JSON")
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
    #expect(writer.data == Data(writer.bytes))
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
